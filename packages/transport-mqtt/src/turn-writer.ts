import type { Writable } from "node:stream";

/** So many frames go out together before the rest of a turn is done, so that the broker need not wait for all of it. */
const FRAMES_PER_WRITE = 32;

/**
 * Writes frames to a stream, those of one turn of the event loop together: a system call a frame would cost more than
 * the frame.
 */
export class TurnWriter {
  readonly #stream: Writable;
  #frames = 0;
  #corked = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** `done` is called when the last chunk was handed to the system, or with an error. */
  write(chunks: readonly Uint8Array[], done?: (error: Error | null | undefined) => void): void {
    if (!this.#corked) {
      this.#corked = true;
      this.#stream.cork();
      setImmediate(() => {
        this.#corked = false;
        this.#frames = 0;
        this.#stream.uncork();
      });
    }
    const last = chunks.length - 1;
    for (let index = 0; index <= last; index++) this.#stream.write(chunks[index], index === last ? done : undefined);
    if (++this.#frames < FRAMES_PER_WRITE) return;
    this.#frames = 0;
    this.#stream.uncork();
    this.#stream.cork();
  }
}
