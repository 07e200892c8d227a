import type { WriteStream } from "node:tty";

const PLAIN_EVERY_MS = 5_000;

/** One line that keeps changing on a terminal; elsewhere a new line now and then. */
export class LiveLine {
  readonly #out: WriteStream;
  #printedAt = Number.NEGATIVE_INFINITY;

  constructor(out: WriteStream) {
    this.#out = out;
  }

  update(text: string): void {
    if (this.#out.isTTY) {
      this.#out.write(`\r\u001b[K${text.slice(0, this.#out.columns - 1)}`);
    } else if (performance.now() - this.#printedAt >= PLAIN_EVERY_MS) {
      this.#printedAt = performance.now();
      this.#out.write(`${text}\n`);
    }
  }

  /** Goes on below it. */
  end(): void {
    if (this.#out.isTTY) this.#out.write("\n");
  }
}
