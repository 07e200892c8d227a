import type { Logger } from "@bridge/ports";
import type { AuditEvent } from "./event.ts";
import type { AuditHistory } from "./history.ts";

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
  /**
   * Asked before each change: resolves when its events would be kept, rejects with why not, which refuses the change. With it,
   * a change is refused as well when the event that says it begins is not kept. Default: a sink that fails refuses nothing.
   */
  ready?(): Promise<void>;
  /** Why events would not be kept now, as far as it knows without being given one. Default: nothing is known. */
  fault?(): string | undefined;
  /** What it has kept. Default: it cannot be read. */
  readonly history?: AuditHistory;
}

/** Writes each event as a line of the structured log, at level info. */
export function logSink(logger: Logger): AuditSink {
  return { name: "log", write: (event) => logger.info("audit", { ...event }) };
}
