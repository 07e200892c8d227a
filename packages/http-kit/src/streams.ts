import type { Clock } from "@bridge/ports";
import type { StreamRow } from "./event-stream.ts";
import { HttpError } from "./http-error.ts";
import type { OpenStream } from "./open-stream.ts";

/** Of one server. */
const MAX_STREAMS = 64;
/** Of one caller. */
const MAX_OF_CALLER = 8;
const RETRY_AFTER_S = 10;
/** How often streams are looked at: whether their callers may still see them, and whether it is time for a sign of life. */
const LOOK_MS = 1_000;

/** The streams of a kind. */
export interface StreamCount {
  readonly kind: string;
  readonly open: number;
  /** Events that clients were not shown, since the start: there were too many for them. */
  readonly lost: number;
}

/** The streams of one server. They cost nothing while there is none. */
export class Streams {
  readonly #clock: Clock;
  readonly #places = new Set<StreamPlace>();
  readonly #open = new Set<OpenStream>();
  readonly #kinds = new Map<string, number>();
  readonly #lost = new Map<string, number>();
  #looks: Disposable | undefined;

  constructor(clock: Clock, kinds: Iterable<string>) {
    this.#clock = clock;
    for (const kind of kinds) this.#kinds.set(kind, 0);
  }

  /** @throws HttpError 503 when there are too many, too many of its kind or too many of this caller */
  place(
    { kind, most = MAX_STREAMS, mostOfCaller, tooMany = "too many streams" }: StreamRow,
    caller: string,
  ): StreamPlace {
    let own = 0;
    for (const place of this.#places)
      if (place.caller === caller && (place.kind === kind || mostOfCaller === undefined)) own++;
    const isFull = this.#places.size >= MAX_STREAMS || (this.#kinds.get(kind) ?? 0) >= most;
    if (isFull || own >= (mostOfCaller ?? MAX_OF_CALLER))
      throw new HttpError(503, tooMany, { "Retry-After": `${RETRY_AFTER_S}` });
    const place = new StreamPlace(kind, caller, () => {
      if (this.#places.delete(place)) this.#count(kind, -1);
    });
    this.#places.add(place);
    this.#count(kind, 1);
    return place;
  }

  /** Looks at it from now on, until it has ended. */
  watch(stream: OpenStream): void {
    this.#open.add(stream);
    this.#looks ??= this.#clock.every(LOOK_MS, () => this.#look());
  }

  /** It has ended. */
  forget(stream: OpenStream): void {
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    this.#looks?.[Symbol.dispose]();
    this.#looks = undefined;
  }

  /** So many events of a stream of this kind are not shown to its client. */
  lost(kind: string, count: number): void {
    this.#lost.set(kind, (this.#lost.get(kind) ?? 0) + count);
  }

  counts(): readonly StreamCount[] {
    return [...this.#kinds].map(([kind, open]) => ({ kind, open, lost: this.#lost.get(kind) ?? 0 }));
  }

  #look(): void {
    for (const stream of this.#open) stream.look();
  }

  #count(kind: string, more: number): void {
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + more);
  }
}

/** Room for one stream, until it is disposed of. */
export class StreamPlace implements Disposable {
  readonly kind: string;
  readonly caller: string;
  readonly #leave: () => void;

  constructor(kind: string, caller: string, leave: () => void) {
    this.kind = kind;
    this.caller = caller;
    this.#leave = leave;
  }

  [Symbol.dispose](): void {
    this.#leave();
  }
}
