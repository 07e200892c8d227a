import type { Readable } from "node:stream";

/**
 * Shows `look` what a stream reads before those who listen to it get it. What is thrown, by `look` or by them, goes to `failed`
 * and not to the process: a library that cannot make sense of a server costs its connection and nothing else.
 *
 * It holds for those who listen to the event `data`.
 */
export function watchReading(stream: Readable, look: (bytes: Buffer) => void, failed: (thrown: unknown) => void): void {
  const emit = stream.emit.bind(stream) as (event: string | symbol, ...args: unknown[]) => boolean;
  let ended = false;
  const watched = (event: string | symbol, ...args: unknown[]): boolean => {
    if (event !== "data") return emit(event, ...args);
    if (ended) return true;
    try {
      look(args[0] as Buffer);
      return emit(event, ...args);
    } catch (error) {
      ended = true;
      failed(error);
      return true;
    }
  };
  stream.emit = watched as Readable["emit"];
}
