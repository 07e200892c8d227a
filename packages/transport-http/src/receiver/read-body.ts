import type { IncomingMessage } from "node:http";

/**
 * Reads a request's body. `admit` is asked about each chunk, with the size of the body so far, and refuses the body by
 * returning something: what still arrives is then discarded. `onEnd` is called once, with the body, with what refused
 * it, or with nothing when the caller broke off.
 */
export function readBody<Refusal extends object>(
  incoming: IncomingMessage,
  admit: (size: number) => Refusal | undefined,
  onEnd: (body: Uint8Array | Refusal | undefined) => void,
): void {
  let chunks: Buffer[] = [];
  let size = 0;
  let ended = false;
  const end = (body: Uint8Array | Refusal | undefined): void => {
    if (ended) return;
    ended = true;
    chunks = [];
    onEnd(body);
  };
  incoming.on("data", (chunk: Buffer) => {
    if (ended) return;
    size += chunk.length;
    chunks.push(chunk);
    const refusal = admit(size);
    if (refusal !== undefined) end(refusal);
  });
  incoming.on("end", () => end(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
  incoming.on("close", () => end(undefined));
}
