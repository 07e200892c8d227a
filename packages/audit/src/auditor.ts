import { type Clock, type Logger } from "@bridge/ports";
import { Slices, steadyLogger } from "@bridge/ports/internal";
import { AUDIT_ACTIONS, type AuditAction, LOOKS } from "./actions.ts";
import type { AuditEntry, AuditEvent } from "./event.ts";
import type { AuditHistory } from "./history.ts";
import { type FloodBounds, FloodMerger } from "./flood-merger.ts";
import { Outlet } from "./outlet.ts";
import { type AuditSink, logSink } from "./sink.ts";

/** How long entries of one key are counted together. */
const WINDOW_MS = 60_000;
/** Of those that say themselves with what they may be merged: failed logins. */
const FAILURES: FloodBounds = { passing: 10, mostKeys: 100 };
/** Of those of looking, by who looks and at what. */
const READS: FloodBounds = { passing: 60, mostKeys: 1_000 };

export interface AuditorOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where events go. Default: the structured log alone. */
  readonly sinks?: readonly AuditSink[] | undefined;
}

/**
 * Records what operators do. Disposing it writes what is still merged, waits for the sinks within a bound, and disposes
 * those that can be.
 */
export interface Auditor extends AsyncDisposable {
  /**
   * Stamps the entry and hands it to every sink. Resolves to true when each has kept it or has failed, and to false when
   * one has taken 5 seconds and still has it before it, or one that changes need ({@link AuditSink.ready}) has not kept it;
   * never rejects: a sink that fails is logged and counted.
   *
   * An event of a change is always handed over. One of looking ({@link LOOKS}), or of a call that was refused, is counted
   * when a sink has 1,000 before it; they stand in one event `audit.merged` as soon as it has room.
   *
   * Of the entries with one `mergeKey`, the first 10 of a minute are written at once and the rest as one event for
   * each action and outcome at the end of the minute, with `detail.count`. So are those of looking without one, beyond 60 a minute of one actor
   * and action. Who has seen content, and what changes something, is never merged.
   */
  record(entry: AuditEntry): Promise<boolean>;
  /**
   * Before a call: true as soon as every sink has room for its events; false after 5 seconds without, or when one says that it
   * would not keep them. Looking needs nothing.
   */
  hasRoomFor(action: AuditAction): Promise<boolean>;
  /** What the first sink has kept that can be read again; absent when none can. */
  readonly history?: AuditHistory | undefined;
  /** Events that did not reach a sink, by its name. */
  failures(): ReadonlyMap<string, number>;
  /** Why a sink does not keep what it is given now, by its name; empty while all do. */
  faults(): ReadonlyMap<string, string>;
}

/** @throws Error when two sinks have one name: their failures could not be told apart */
export function createAuditor({ clock, logger, sinks = [logSink(logger)] }: AuditorOptions): Auditor {
  if (new Set(sinks.map((sink) => sink.name)).size < sinks.length)
    throw new Error("two audit sinks have the same name: give each its own");
  const outlets = sinks.map((sink) => new Outlet(sink, steadyLogger(logger)));
  const failures = new FloodMerger(FAILURES);
  const reads = new FloodMerger(READS);
  const isAdmitted = (entry: AuditEntry): boolean => {
    if (entry.mergeKey !== undefined) return failures.admit(entry.mergeKey, entry);
    return !LOOKS.has(entry.action) || reads.admit(`${entry.action} ${entry.actor}`, entry);
  };
  const write = async (entry: AuditEntry): Promise<boolean> => {
    const event = stamp(entry, clock.now());
    const mayBeMerged = LOOKS.has(entry.action) || entry.refused === true;
    return isAll(await Promise.all(outlets.map((outlet) => outlet.write(event, mayBeMerged))));
  };
  const endWindow = async (): Promise<void> => {
    const slices = new Slices(clock);
    const writing: Promise<boolean>[] = [];
    for (const entry of [...failures.drain(), ...reads.drain()]) {
      if (slices.over) await slices.next();
      writing.push(write(entry));
    }
    await Promise.all(writing);
  };
  const windows = clock.every(WINDOW_MS, () => void endWindow());
  return {
    history: sinks.find(({ history }) => history !== undefined)?.history,
    record: async (entry) => !isAdmitted(entry) || (await write(entry)),
    hasRoomFor: async (action) =>
      LOOKS.has(action) || isAll(await Promise.all(outlets.map((outlet) => outlet.hasRoom()))),
    faults: () => new Map(outlets.flatMap(({ sink, fault }) => (fault === undefined ? [] : [[sink.name, fault]]))),
    failures: () => new Map(outlets.map((outlet) => [outlet.sink.name, outlet.failures])),
    [Symbol.asyncDispose]: async () => {
      windows[Symbol.dispose]();
      await endWindow();
      await Promise.all(outlets.map((outlet) => outlet.close()));
    },
  };
}

function isAll(answers: readonly boolean[]): boolean {
  return answers.every(Boolean);
}

function stamp(entry: AuditEntry, now: number): AuditEvent {
  return {
    timestamp: new Date(now).toISOString(),
    action: entry.action,
    actor: entry.actor,
    resource_type: entry.resourceType ?? AUDIT_ACTIONS[entry.action],
    resource_id: entry.resourceId ?? "",
    outcome: entry.outcome,
    detail: { ...entry.detail, client_addr: entry.clientAddr },
  };
}
