import { type Logger, systemClock } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { AuditEvent } from "./event.ts";
import { callsIn, MergedEvents } from "./merged-events.ts";
import type { AuditSink } from "./sink.ts";
import { SinkFault } from "./sink-fault.ts";

/** How long a caller waits for a sink. */
const SINK_TIMEOUT_MS = 5_000;
/** Unfinished writes of one sink: beyond, events that may be are merged, and changes wait. */
const MAX_OUTSTANDING = 1_000;

/** One sink, with the bounds that keep it from holding up its callers. */
export class Outlet {
  readonly sink: AuditSink;
  /** Events that the sink did not take, or not in time, or not one by one. */
  failures = 0;
  readonly #fault: SinkFault;
  readonly #outstanding = new Set<Promise<void>>();
  readonly #merged = new MergedEvents();
  readonly #logger: Logger;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(sink: AuditSink, logger: Logger) {
    this.sink = sink;
    this.#logger = logger;
    this.#fault = new SinkFault(sink.name, logger);
  }

  /** Resolves as soon as the events of a change would be kept; false when they would not, or that takes too long. */
  async hasRoom(): Promise<boolean> {
    return (await this.#isReady()) && (await this.#getsRoom());
  }

  /** Why it does not keep what it is given; `undefined` while it does. */
  get fault(): string | undefined {
    return this.#fault.reason ?? this.sink.fault?.();
  }

  async #isReady(): Promise<boolean> {
    if (this.sink.ready === undefined) return true;
    try {
      // This alone ends no fault: a disk may have room for a short record, and none for the one that comes now.
      await inTime(this.sink.ready());
      return true;
    } catch (error) {
      this.#fault.met(error);
      return false;
    }
  }

  async #getsRoom(): Promise<boolean> {
    if (!this.#isFull) return true;
    using limit = deadline(systemClock, SINK_TIMEOUT_MS, new Error("no room"));
    while (this.#isFull) {
      this.#room ??= Promise.withResolvers();
      try {
        await orAborted(this.#room.promise, limit.signal);
      } catch {
        return false;
      }
    }
    return true;
  }

  /**
   * Hands an event over; without room one that may be merged is counted, and stands in the next `audit.merged`. Resolves to
   * false when the sink has taken too long and still has the event before it, or has not kept it and changes need it. Never
   * rejects.
   */
  async write(event: AuditEvent, mayBeMerged: boolean): Promise<boolean> {
    if (!mayBeMerged || !(this.#isFull || this.#isMerging)) return this.#hand(event);
    if (!this.#isMerging) this.#logger.warn("audit events are merged: a sink cannot keep up", { sink: this.sink.name });
    this.failures += callsIn(event);
    this.#merged.add(event);
    return true;
  }

  /** Waits for what is outstanding, as long as a caller would, and disposes the sink. Never rejects. */
  async close(): Promise<void> {
    try {
      if (this.#isMerging) void this.#hand(this.#merged.take());
      await inTime(Promise.allSettled(this.#outstanding));
      await inTime(Promise.resolve(this.sink[Symbol.asyncDispose]?.()));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#logger.error("audit sink was not closed", { sink: this.sink.name, error: reason });
    }
  }

  get #isFull(): boolean {
    return this.#outstanding.size >= MAX_OUTSTANDING;
  }

  get #isMerging(): boolean {
    return !this.#merged.isEmpty;
  }

  async #hand(event: AuditEvent): Promise<boolean> {
    let waits = false;
    try {
      const written = this.sink.write(event);
      if (!(written instanceof Promise)) return this.#keeps();
      waits = true;
      const tracked = written.finally(() => {
        waits = false;
        this.#leave(tracked);
      });
      this.#outstanding.add(tracked);
      await inTime(tracked);
      return this.#keeps();
    } catch (error) {
      this.failures++;
      this.#fault.lost(error, { action: event.action });
      return !waits && this.sink.ready === undefined;
    }
  }

  #keeps(): true {
    this.#fault.over();
    return true;
  }

  #leave(write: Promise<void>): void {
    this.#outstanding.delete(write);
    this.#room?.resolve();
    this.#room = undefined;
    if (this.#isMerging && this.#outstanding.size <= MAX_OUTSTANDING / 2) void this.#hand(this.#merged.take());
  }
}

async function inTime(work: Promise<unknown>): Promise<void> {
  using limit = deadline(systemClock, SINK_TIMEOUT_MS, new Error(`it took longer than ${SINK_TIMEOUT_MS} ms`));
  await orAborted(work, limit.signal);
}
