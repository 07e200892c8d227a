import type { Socket } from "node:net";

/** A slice ends with the first header that ends behind so many bytes: some 20 of the smallest requests. */
const LEAST_BYTES = 512;
const END_OF_HEADER = Buffer.from("\r\n\r\n");

/**
 * Hands what `socket` receives to the platform's parser in slices, so that it can be paused between them: the parser makes
 * objects of all requests of what it is given, and 64 KiB, which are read at once, may hold thousands. Without the end of a
 * header there is no request, so most bodies pass as they come.
 *
 * `waits` says whether what follows is to wait until somebody resumes the socket.
 */
export function readInSlices(socket: Socket, waits: () => boolean): void {
  const push = socket.push.bind(socket);
  socket.push = (chunk: Buffer | null): boolean => {
    let rest = chunk;
    while (rest !== null && rest.length > LEAST_BYTES) {
      const header = rest.indexOf(END_OF_HEADER, LEAST_BYTES - END_OF_HEADER.length);
      if (header === -1) break;
      const end = header + END_OF_HEADER.length;
      if (end === rest.length) break;
      push(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    return push(rest);
  };
  const holdBack = (): void => {
    if (waits()) socket.pause();
  };
  // It comes behind the parser's listener, and makes the parser read from the stream and not from what is beneath.
  socket.on("data", holdBack);
  // The platform's server asks for more behind each request that it has read, and each answer that has left.
  socket.on("resume", holdBack);
}
