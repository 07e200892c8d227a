import type { Reply } from "./endpoint.ts";
import type { LoopUse } from "./measured-slices.ts";
import type { StreamEnd } from "./open-stream.ts";

/** What stands around each of several. */
export interface Frame {
  readonly begin: (place: number) => string;
  readonly end: string;
}

/** What a caller is shown of these, one after another, as JSON. Each is asked for only when it is its turn. */
export type Show = (data: Iterable<object>, frame: Frame) => Promise<Uint8Array>;

/** The body of an answer that goes on, part by part. */
export abstract class StreamBody {
  /** What the audit record says, which is then written when the stream has ended. Absent: it is written as it begins. */
  abstract readonly ended: (() => NonNullable<Reply["audit"]>) | undefined;
  /** What goes out at once, so that the head of the answer leaves, and after silence. Absent: nothing does. */
  abstract readonly sign: Uint8Array | undefined;
  /** How long a slice may hold the event loop in which text is made of what comes. Absent: as long as one of any answer. */
  abstract readonly sliceMs: number | undefined;
  /** Told what making the text of each part has cost the event loop. Absent: nobody asks. */
  abstract readonly used: ((use: LoopUse) => void) | undefined;
  /** The last bytes; `undefined`: there are none, and one that is not over is cut, so that nobody takes it for whole. */
  abstract bye(why: StreamEnd): Uint8Array | undefined;
  /**
   * The next part is asked for when the client has taken the one before. Nothing once `signal` has aborted. `lost` is told of what is
   * left out.
   */
  abstract parts(show: Show, signal: AbortSignal, lost: (count: number) => void): AsyncIterator<Uint8Array>;
}
