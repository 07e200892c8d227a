import type { Logger } from "@bridge/ports";
import type { AuditEvent } from "./event.ts";

/**
 * Keeps audit events. Any function will do: `{ name: "siem", write: (event) => send(event) }`.
 *
 * Events are handed over in order and without waiting for the one before; a sink that cares serialises them itself.
 * One that can be disposed is, with the auditor, after the last event.
 */
export interface AuditSink extends Partial<AsyncDisposable> {
  /** For the log line and the count of a failure. */
  readonly name: string;
  /** Returns, or resolves, once the event is kept. */
  write(event: AuditEvent): Promise<void> | void;
}

/** Writes each event as a line of the structured log, at level info. */
export function logSink(logger: Logger): AuditSink {
  return { name: "log", write: (event) => logger.info("audit", { ...event }) };
}
