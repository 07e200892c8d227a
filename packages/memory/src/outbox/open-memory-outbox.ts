import { BridgeError, type Clock, type OutboxStore, type Random } from "@bridge/ports";
import { RecordTable } from "./record-table.ts";

export interface MemoryOutboxOptions {
  /** The most records. Finished ones make room for new ones; when none is finished `persist` fails as `UNAVAILABLE`. */
  readonly maxRecords: number;
  /** How long finished records stay as evidence against duplicates, in milliseconds. */
  readonly retentionMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

/** Finished records are looked through this often. */
const COMPACT_EVERY_MS = 1_000;

/** An outbox in memory. What it holds is lost when it is disposed, and with the process. */
export function openMemoryOutbox(options: MemoryOutboxOptions): OutboxStore {
  const { clock, retentionMs } = options;
  const table = new RecordTable(options);
  const compaction = clock.every(COMPACT_EVERY_MS, () => table.forget(retentionMs));
  let closed = false;

  function begin(signal: AbortSignal): RecordTable {
    signal.throwIfAborted();
    if (closed) throw new BridgeError("UNAVAILABLE", "the memory outbox is closed");
    return table;
  }

  return {
    async persist(records, signal) {
      return begin(signal).persist(records);
    },
    async claim(request, signal) {
      return begin(signal).claim(request);
    },
    async claimOne(id, loanMs, signal) {
      return begin(signal).claimOne(id, loanMs);
    },
    async finish(ends, signal) {
      const open = begin(signal);
      return ends.map((end) => open.finish(end));
    },
    async status(id, signal) {
      return begin(signal).status(id);
    },
    async redriving(entryId, signal) {
      return begin(signal).redriving(entryId);
    },
    async backlog(signal) {
      return begin(signal).backlog();
    },
    async blockedKeys(filter, limit, signal) {
      return begin(signal).blockedKeys(filter, limit);
    },
    async list(filter, page, signal) {
      return begin(signal).list(filter, page);
    },
    health: () => ({ fault: table.fullness(), setAside: [] }),
    async [Symbol.asyncDispose]() {
      closed = true;
      compaction[Symbol.dispose]();
      table.clear();
    },
  };
}
