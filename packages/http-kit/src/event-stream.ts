import * as v from "valibot";
import type { Detail } from "./endpoint.ts";

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
   */
  readonly events: (signal: AbortSignal, lost: (count: number) => void) => AsyncIterable<readonly StreamEvent[]>;
  /** What the audit record says, which is then written when the stream has ended. Default: it is written as it begins. */
  readonly ended?: () => Detail;
}

/** The body of an answer that goes on: events, one after another, as `text/event-stream`. */
export class EventStream {
  readonly events: EventStreamOptions["events"];
  readonly ended: EventStreamOptions["ended"];

  constructor({ events, ended }: EventStreamOptions) {
    this.events = events;
    this.ended = ended;
  }
}

/** What a row says of the stream that it answers with. */
export interface StreamRow {
  /** What it is called where streams are counted, such as `tail`. */
  readonly kind: string;
  /** At once, of this kind. Default: as many as there may be streams. */
  readonly most?: number;
  /** The data of each event by its name; `bye`, the last one, is every stream's. */
  readonly events: Readonly<Record<string, v.GenericSchema>>;
}

/** On every stream: proxies are to hand on each event as it comes. */
export const STREAM_HEADERS = { "X-Accel-Buffering": "no" } as const;

export const STREAM_TYPE = "text/event-stream";

/** The answer 200 of a row with a stream. */
export function streamAnswer(description: string) {
  return { description, schema: v.string(), contentType: STREAM_TYPE };
}
