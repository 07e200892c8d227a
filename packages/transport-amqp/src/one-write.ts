import type { Writable } from "node:stream";

/**
 * Lets what the library writes at a stretch leave in one call to the system. It writes each frame by itself, all that have
 * come up in a turn of the event loop one after another, and such a call costs more than everything else about a message.
 * Nothing is held back for longer than that stretch.
 */
export function writeTogether(socket: Pick<Writable, "write" | "cork" | "uncork">): void {
  const write = socket.write.bind(socket);
  let isCorked = false;
  function uncork(): void {
    isCorked = false;
    socket.uncork();
  }
  socket.write = ((...parameters: Parameters<Writable["write"]>) => {
    if (!isCorked) {
      isCorked = true;
      socket.cork();
      process.nextTick(uncork);
    }
    return write(...parameters);
  }) as Writable["write"];
}
