import type { Socket } from "node:net";

interface Chunk {
  /** Absent: the sender has ended. */
  readonly bytes: Buffer | undefined;
  due: number;
}

/** Stop reading beyond this many bytes that wait to be passed on. */
const MAX_BUFFERED = 4 * 1024 * 1024;

/** Carries bytes from one socket to another, at once, late, slowly or not at all. */
export class Pump {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #queue: Chunk[] = [];
  #buffered = 0;
  #delayMs = 0;
  #bytesPerMs = Infinity;
  /** When all that came before is over the line, at its rate. */
  #lineFreeAt = 0;
  #frozen = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(from: Socket, to: Socket) {
    this.#from = from;
    this.#to = to;
    from.on("data", (bytes: Buffer) => this.#add(bytes));
    from.on("end", () => this.#add(undefined));
    to.on("drain", () => this.#adjust());
  }

  freeze(): void {
    this.#frozen = true;
    clearTimeout(this.#timer);
    this.#adjust();
  }

  delay(ms: number): void {
    this.#delayMs = ms;
  }

  rate(bytesPerSecond: number): void {
    this.#bytesPerMs = bytesPerSecond / 1_000;
  }

  restore(): void {
    this.#frozen = false;
    this.#delayMs = 0;
    this.#bytesPerMs = Infinity;
    this.#lineFreeAt = 0;
    for (const chunk of this.#queue) chunk.due = 0;
    this.#flush();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#queue.length = 0;
  }

  #add(bytes: Buffer | undefined): void {
    const length = bytes?.length ?? 0;
    this.#lineFreeAt = Math.max(performance.now(), this.#lineFreeAt) + length / this.#bytesPerMs;
    this.#queue.push({ bytes, due: this.#lineFreeAt + this.#delayMs });
    this.#buffered += length;
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    if (this.#frozen) return;
    const now = performance.now();
    let sent = 0;
    for (const { bytes, due } of this.#queue) {
      if (due > now) break;
      sent++;
      if (bytes === undefined) this.#to.end();
      else this.#to.write(bytes);
      this.#buffered -= bytes?.length ?? 0;
    }
    this.#queue.splice(0, sent);
    const [next] = this.#queue;
    if (next !== undefined) this.#timer = setTimeout(() => this.#flush(), next.due - now);
    this.#adjust();
  }

  /** Reads on only while there is room, and not at all while frozen: the peer then feels it in its own buffers. */
  #adjust(): void {
    if (this.#frozen || this.#buffered > MAX_BUFFERED || this.#to.writableNeedDrain) this.#from.pause();
    else this.#from.resume();
  }
}
