import { FileDatabase, type FileDatabaseOptions } from "../database/file-database.ts";
import { FileFault } from "../database/file-fault.ts";
import { type Clock, type Logger, type OutboxStore, type Random } from "@bridge/ports";
import { orAborted, sweepEvery } from "@bridge/ports/internal";
import { claim, claimOne } from "./claim.ts";
import { compact } from "./compact.ts";
import { finish } from "./finish.ts";
import { Lanes } from "./lanes.ts";
import { Loans } from "./loans.ts";
import { backlog, blockedKeys, list, redriving, status } from "./look.ts";
import { OUTBOX_FILE } from "./outbox-file-kind.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { type OutboxStatements, outboxStatements } from "./outbox-statements.ts";
import { persist } from "./persist.ts";
import { SpoiledRecords } from "./spoiled-records.ts";
import { Window, WINDOW_LIMITS, type WindowLimits } from "./window.ts";

/** Finished records may stay this much longer than they have to. */
const SWEEP_MS = 60_000;

export interface FileOutboxOptions {
  /** The file; a relative one starts at the working directory. Its folder is made if it is not there. */
  readonly path: string;
  /** How long finished records stay as evidence against duplicates, in milliseconds. */
  readonly retentionMs: number;
  /** From so many bytes on `persist` fails as `UNAVAILABLE`, until records are finished. Default: as much as there is. */
  readonly maxBytes?: number | undefined;
  /** Whether a damaged file is set aside and a new one begun, with all that was not delivered yet, or refused. */
  readonly onCorrupt: "quarantine" | "refuse";
  /** How much is kept in memory. Default: up to some tens of MB. */
  readonly window?: WindowLimits | undefined;
  /** Makes what was written to an open file durable. Default: fdatasync. */
  readonly sync?: FileDatabaseOptions<unknown>["sync"];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * An outbox in a file of this process. What is persisted or finished is durable when the call resolves; calls that
 * overlap share one sync. Loans live in memory: a crash ends them all.
 *
 * Throws a {@link BridgeError} when the file cannot be opened: it is another process's, another program's, of a newer
 * release, damaged, or on a disk that does not let it. While the disk is full or fails, calls reject as `UNAVAILABLE`;
 * they work again when it does.
 */
export function openFileOutbox(options: FileOutboxOptions): OutboxStore {
  const { path, retentionMs, maxBytes, onCorrupt, clock, random, logger } = options;
  const lanes = new Lanes();
  const loans = new Loans(clock, random);
  const spoiledRecords = new SpoiledRecords(clock, logger);
  const window = new Window(loans, spoiledRecords, options.window ?? WINDOW_LIMITS, clock);
  const file: FileDatabase<OutboxStatements> = new FileDatabase({
    path,
    kind: OUTBOX_FILE,
    onDamage: onCorrupt,
    maxBytes,
    sync: options.sync,
    clock,
    logger,
    prepare(db) {
      const statements = outboxStatements(db);
      if (!lanes.reload(statements))
        throw new FileFault(path, "damaged", { cause: new Error("it has records of no route") });
      window.reset(statements.newest());
      spoiledRecords.reset();
      return statements;
    },
  });
  const parts: OutboxParts = { file, lanes, loans, window, spoiledRecords, clock };
  const compaction = sweepEvery(SWEEP_MS, (signal) => compact(file, clock.now() - retentionMs, signal), {
    clock,
    logger,
  });

  function begin(signal: AbortSignal): void {
    signal.throwIfAborted();
    file.assertOpen();
  }

  return {
    async persist(records, signal) {
      begin(signal);
      return orAborted(persist(parts, records), signal);
    },
    async claim(request, signal) {
      begin(signal);
      return claim(parts, request, signal);
    },
    async claimOne(id, loanMs, signal) {
      begin(signal);
      return claimOne(parts, id, loanMs, signal);
    },
    async finish(ends, signal) {
      begin(signal);
      return orAborted(finish(parts, ends), signal);
    },
    async status(id, signal) {
      begin(signal);
      return status(parts, id);
    },
    async redriving(entryId, signal) {
      begin(signal);
      return redriving(parts, entryId);
    },
    async backlog(signal) {
      begin(signal);
      return backlog(parts);
    },
    async blockedKeys(filter, limit, signal) {
      begin(signal);
      return blockedKeys(parts, filter, limit);
    },
    async list(filter, page, signal) {
      begin(signal);
      return list(parts, filter, page);
    },
    health: () => ({ ...file.health(), ...spoiledRecords.health() }),
    acknowledgeDamage: () => [...file.acknowledgeDamage(), ...spoiledRecords.acknowledge(file)],
    async [Symbol.asyncDispose]() {
      await compaction[Symbol.asyncDispose]();
      await file[Symbol.asyncDispose]();
    },
  };
}
