import { Malformed } from "./byte-reader.ts";

export const FRAME = { method: 1, header: 2, body: 3, heartbeat: 8, end: 0xce } as const;
/** Type, channel and size, before what a frame carries. */
export const FRAME_START = 7;
/** What a frame has beside what it carries. */
export const FRAME_OVERHEAD = FRAME_START + 1;

const NOTHING = Buffer.alloc(0);
const GREETING = Buffer.from("AMQP");
const MAX_TYPE = 8;

export type OnFrame = (type: number, channel: number, payload: Buffer) => void;

/** Cuts what comes from the socket into frames, and keeps no more of it than one may have. */
export class FrameReader {
  /** The largest frame that may come, its ends included. */
  maxSize: number;
  readonly #onFrame: OnFrame;
  #rest: Buffer = NOTHING;

  constructor(maxSize: number, onFrame: OnFrame) {
    this.maxSize = maxSize;
    this.#onFrame = onFrame;
  }

  /**
   * Hands over each frame that is complete, as a view of what was read.
   *
   * @throws Malformed when there is something else, as soon as that can be seen
   */
  read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = NOTHING;
    let at = 0;
    while (at < bytes.length) {
      const end = this.#endOf(bytes, at);
      if (end > bytes.length) break;
      if (bytes[end - 1] !== FRAME.end) throw new Malformed("a frame without its end");
      this.#onFrame(bytes[at] as number, bytes.readUInt16BE(at + 1), bytes.subarray(at + FRAME_START, end - 1));
      at = end;
    }
    if (at < bytes.length) this.#rest = bytes.subarray(at);
  }

  /** Where the frame ends that begins at `at`; beyond the bytes as long as that cannot be told. */
  #endOf(bytes: Buffer, at: number): number {
    const type = bytes[at] as number;
    if (type === 0 || type > MAX_TYPE) throw new Malformed(somethingElse(bytes.subarray(at)));
    if (bytes.length - at < FRAME_START) return Number.POSITIVE_INFINITY;
    const size = bytes.readUInt32BE(at + 3) + FRAME_OVERHEAD;
    if (size > this.maxSize) throw new Malformed(`a frame of ${size} bytes, where ${this.maxSize} are agreed upon`);
    return at + size;
  }
}

function somethingElse(bytes: Buffer): string {
  // A broker that does not speak our version says which it speaks.
  if (!bytes.subarray(0, GREETING.length).equals(GREETING)) return `no frame, but the byte ${bytes[0]}`;
  return `that it speaks another version: ${[...bytes.subarray(GREETING.length, 8)].join("-")}`;
}
