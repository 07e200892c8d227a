import { deadline, type Logger, orAborted } from "@bridge/ports";
import type { AuditEvent } from "./event.ts";
import type { AuditSink } from "./sink.ts";

/** How long a caller waits for a sink. */
const SINK_TIMEOUT_MS = 5_000;
/** Unfinished writes of one sink; beyond, events do not reach it. */
const MAX_OUTSTANDING = 1_000;

/** One sink, with the bounds that keep it from holding up or failing its callers. */
export class Outlet {
  readonly sink: AuditSink;
  /** Events that the sink did not take, or not in time. */
  failures = 0;
  readonly #outstanding = new Set<Promise<void>>();
  readonly #logger: Logger;

  constructor(sink: AuditSink, logger: Logger) {
    this.sink = sink;
    this.#logger = logger;
  }

  /** Never rejects. */
  async write(event: AuditEvent): Promise<void> {
    try {
      if (this.#outstanding.size >= MAX_OUTSTANDING)
        throw new Error(`${MAX_OUTSTANDING} events are waiting for it already`);
      const written = this.sink.write(event);
      if (!(written instanceof Promise)) return;
      const tracked = written.finally(() => this.#outstanding.delete(tracked));
      this.#outstanding.add(tracked);
      await inTime(tracked);
    } catch (error) {
      this.failures++;
      const reason = error instanceof Error ? error.message : String(error);
      this.#logger.error("audit sink failed", { sink: this.sink.name, action: event.action, error: reason });
    }
  }

  /** Waits for what is outstanding, as long as a caller would, and disposes the sink. Never rejects. */
  async close(): Promise<void> {
    try {
      await inTime(Promise.allSettled(this.#outstanding));
      await inTime(Promise.resolve(this.sink[Symbol.asyncDispose]?.()));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#logger.error("audit sink was not closed", { sink: this.sink.name, error: reason });
    }
  }
}

async function inTime(work: Promise<unknown>): Promise<void> {
  using limit = deadline(SINK_TIMEOUT_MS, new Error(`it took longer than ${SINK_TIMEOUT_MS} ms`));
  await orAborted(work, limit.signal);
}
