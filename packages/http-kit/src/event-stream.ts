import * as v from "valibot";
import type { Detail, Reply } from "./endpoint.ts";
import type { LoopUse } from "./measured-slices.ts";
import type { StreamEnd } from "./open-stream.ts";
import { type Show, StreamBody } from "./stream-body.ts";

const COMMENT = Buffer.from(":\n\n");
/** Many times a second and for hours: whoever looks on is not to be felt by those whom the bridge works for. */
const SLICE_MS = 0.1;

/** One event of a stream. It is complete by itself: what a client has missed is not sent again. */
export interface StreamEvent {
  readonly event: string;
  /** Sent as JSON. */
  readonly data: object;
}

export interface EventStreamOptions {
  /**
   * What comes: one event, or all those that are there already. More is asked for when the client has taken what came before, so
   * nothing is kept for one that is slow; nothing before somebody takes the answer, and nothing once `signal` has aborted. `lost` is
   * told how many there were that the client is not shown.
   *
   * Each of those that come together is asked for when its text is made: work that an event needs goes into the iterable, and so into
   * the same short slices.
   */
  readonly events: (signal: AbortSignal, lost: (count: number) => void) => AsyncIterable<Iterable<StreamEvent>>;
  /**
   * Told what making the text of what came last has cost the event loop, before more is asked for. So whoever makes the events can keep
   * to a share of it. Default: nobody is told.
   */
  readonly used?: (use: LoopUse) => void;
  /** What the audit record says, which is then written when the stream has ended. Default: it is written as it begins. */
  readonly ended?: () => Detail;
}

/** The body of an answer that goes on: events, one after another, as `text/event-stream`. */
export class EventStream extends StreamBody {
  /** A comment line, so that no proxy takes the connection for an idle one. */
  readonly sign = COMMENT;
  readonly sliceMs = SLICE_MS;
  readonly used: ((use: LoopUse) => void) | undefined;
  readonly ended: (() => NonNullable<Reply["audit"]>) | undefined;
  readonly #events: EventStreamOptions["events"];

  constructor({ events, used, ended }: EventStreamOptions) {
    super();
    this.#events = events;
    this.used = used;
    this.ended = ended && (() => ({ detail: ended() }));
  }

  bye(why: StreamEnd): Uint8Array {
    return Buffer.from(`${beginOf("bye")}${JSON.stringify({ why })}${END}`);
  }

  parts(show: Show, signal: AbortSignal, lost: (count: number) => void): AsyncIterator<Uint8Array> {
    const events = this.#events(signal, lost)[Symbol.asyncIterator]();
    return {
      next: async () => {
        const next = await events.next();
        if (next.done === true) return { done: true, value: undefined };
        const names: string[] = [];
        // In one go, which costs less than each by itself.
        const bytes = await show(dataOf(next.value, names), {
          begin: (place) => beginOf(names[place] ?? ""),
          end: END,
        });
        return { done: false, value: bytes };
      },
      // Not behind what is asked for: what it holds is let go of at once.
      return: async () => {
        await events.return?.();
        return { done: true, value: undefined };
      },
    };
  }
}

/** Of each event, as it is asked for; its name is then the last of `names`. */
function* dataOf(events: Iterable<StreamEvent>, names: string[]): Generator<object> {
  for (const { event, data } of events) {
    names.push(event);
    yield data;
  }
}

/** JSON has no line ends, so one line holds it. */
function beginOf(event: string): string {
  return `event: ${event}\ndata: `;
}

const END = "\n\n";

/** What a row says of the stream that it answers with. */
export interface StreamRow {
  /** What it is called where streams are counted, such as `tail`. */
  readonly kind: string;
  /** At once, of this kind. Default: as many as there may be streams. */
  readonly most?: number;
  /** At once, of this kind and one caller, who may have others besides. Default: as many as a caller may have streams. */
  readonly mostOfCaller?: number;
  /** What whoever comes beyond that is told. Default: `too many streams`. */
  readonly tooMany?: string;
  /** The data of each event by its name; `bye`, the last one, is every stream's. Absent where there are no events. */
  readonly events?: Readonly<Record<string, v.GenericSchema>>;
}

/** On every stream: proxies are to hand on each event as it comes. */
export const STREAM_HEADERS = { "X-Accel-Buffering": "no" } as const;

export const STREAM_TYPE = "text/event-stream";

/** The answer 200 of a row with a stream. */
export function streamAnswer(description: string) {
  return { description, schema: v.string(), contentType: STREAM_TYPE };
}
