import type { DatabaseSync } from "node:sqlite";
import type { BridgeError } from "@bridge/ports";
import { FileFault } from "./file-fault.ts";
import type { LogEnd } from "./log-end.ts";
import { rollBack } from "./roll-back.ts";

/** Something to be written. */
export interface Job<Statements, Result> {
  /**
   * Changes the file. It runs inside a transaction that it shares with others, and runs again when that has failed
   * because of them: it changes nothing but the file.
   */
  readonly run: (statements: Statements) => Result;
  /**
   * Called when that is in the file to stay, before anything else can happen: for what is kept in memory of the file. It is
   * called of a job that is refused afterwards too, when the file is no longer in its place: the file may come back.
   */
  done?(result: Result): void;
  /** About how many bytes that writes: what one transaction takes on is limited. */
  readonly bytes: number;
  /** Whether it makes room in the end, like a deletion: it is let through when there is no room for more. */
  readonly frees: boolean;
  /** It changes nothing, and only wants its place among what does: a group of such jobs alone is not synced. */
  readonly looks?: boolean;
}

export type JobOutcome =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** It is in the open file, and cannot be promised all the same. */
      readonly refusal?: BridgeError;
    }
  | { readonly ok: false; readonly error: Error };

/** A file as a group of jobs finds it. */
export interface OpenFile<Statements> {
  readonly db: DatabaseSync;
  readonly path: string;
  readonly statements: Statements;
  readonly logEnd: LogEnd;
}

/**
 * Runs the jobs in one transaction and commits it, without a sync. A job that fails fails alone; when the file is full
 * those fail that do not make room.
 *
 * Throws a {@link FileFault} when the file itself is at fault: nothing was committed then.
 */
export function runTogether<Statements>(
  file: OpenFile<Statements>,
  jobs: readonly Job<Statements, unknown>[],
): readonly JobOutcome[] {
  try {
    return transaction(file, () => jobs.map((job) => ({ ok: true, value: job.run(file.statements) })));
  } catch (thrown) {
    const fault = FileFault.of(file.path, thrown);
    if (fault === undefined) return runGuarded(file, jobs);
    if (fault.fault !== "full" || jobs.every((job) => job.frees === jobs[0]?.frees)) throw fault;
    return runFreeing(file, jobs, fault);
  }
}

/** Runs the jobs that make room, and refuses the others. */
export function runFreeing<Statements>(
  file: OpenFile<Statements>,
  jobs: readonly Job<Statements, unknown>[],
  refusal: BridgeError,
): readonly JobOutcome[] {
  const freeing = jobs.filter((job) => job.frees);
  const outcomes = (freeing.length === 0 ? [] : runTogether(file, freeing)).values();
  return jobs.map((job) => (job.frees ? outcomes.next().value : undefined) ?? { ok: false, error: refusal });
}

/** Some job is wrong: finds out which. Slower, so it is not done from the start. */
function runGuarded<Statements>(
  file: OpenFile<Statements>,
  jobs: readonly Job<Statements, unknown>[],
): readonly JobOutcome[] {
  const { db, path, statements } = file;
  const guarded = (job: Job<Statements, unknown>): JobOutcome => {
    db.exec("SAVEPOINT job");
    let outcome: JobOutcome;
    try {
      outcome = { ok: true, value: job.run(statements) };
    } catch (thrown) {
      const fault = FileFault.of(path, thrown);
      if (fault !== undefined) throw fault;
      db.exec("ROLLBACK TO job");
      outcome = { ok: false, error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
    }
    db.exec("RELEASE job");
    return outcome;
  };
  return transaction(file, () => jobs.map(guarded));
}

function transaction<T>({ db, logEnd }: Pick<OpenFile<unknown>, "db" | "logEnd">, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  let result: T;
  try {
    result = work();
    commit(db, logEnd);
  } catch (error) {
    rollBack(db);
    throw error;
  }
  logEnd.follow();
  return result;
}

function commit(db: DatabaseSync, logEnd: LogEnd): void {
  try {
    db.exec("COMMIT");
  } catch (error) {
    logEnd.commitFailed();
    throw error;
  }
}
