import { createHash } from "node:crypto";
import type { Reply } from "./endpoint.ts";
import { type Frame, type Show, StreamBody } from "./stream-body.ts";

export const LINES_TYPE = "application/x-ndjson";

/** What is handed over at once. */
const PART_BYTES = 65_536;

const LINE: Frame = { begin: () => "", end: "\n" };

/** What was handed over of a {@link LineStream}. */
export interface LinesSent {
  readonly lines: number;
  readonly bytes: number;
  /** Whether the client took the last line too. */
  readonly isWhole: boolean;
}

export interface LineStreamOptions {
  /**
   * What comes: an object a line, some at a time, each of which is asked for when its text is made. More is asked for when the client
   * has taken what came before; nothing once `signal` has aborted.
   */
  readonly lines: (signal: AbortSignal) => AsyncIterable<Iterable<object>>;
  /** The last line, which only a stream has that is whole. The digest is of all bytes before it. */
  readonly end: (all: { readonly lines: number; readonly sha256: string }) => object;
  /** What the audit record says, when the stream has ended, in whatever way. */
  readonly ended: (sent: LinesSent) => NonNullable<Reply["audit"]>;
}

/** The body of an answer of many lines, each a JSON object. One that ends too early is cut, and has no last line. */
export class LineStream extends StreamBody {
  readonly sign = undefined;
  readonly sliceMs = undefined;
  readonly used = undefined;
  readonly ended: () => NonNullable<Reply["audit"]>;
  readonly #options: LineStreamOptions;
  #sent = { lines: 0, bytes: 0, isWhole: false };

  constructor(options: LineStreamOptions) {
    super();
    this.#options = options;
    this.ended = () => options.ended(this.#sent);
  }

  bye(): undefined {
    return undefined;
  }

  async *parts(show: Show, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { lines, end } = this.#options;
    const digest = createHash("sha256");
    for await (const some of lines(signal)) {
      let count = 0;
      const counted = function* (): Generator<object> {
        for (const line of some) {
          count++;
          yield line;
        }
      };
      const bytes = await show(counted(), LINE);
      for (let at = 0; at < bytes.length; at += PART_BYTES) {
        const part = bytes.subarray(at, at + PART_BYTES);
        digest.update(part);
        yield part;
        this.#sent.bytes += part.length;
      }
      this.#sent.lines += count;
    }
    yield await show([end({ lines: this.#sent.lines, sha256: digest.digest("hex") })], LINE);
    this.#sent.isWhole = true;
  }
}
