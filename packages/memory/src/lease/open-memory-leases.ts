import { BridgeError, type LeaseRecord, type LeaseStore } from "@bridge/ports";

export interface MemoryLeasesOptions {
  /** Stores of one name share their leases. */
  readonly name: string;
}

interface Table {
  readonly records: Map<string, LeaseRecord>;
  users: number;
}

/** The leases of this process by the name of their stores; a name goes with the last store that has it open. */
const TABLES = new Map<string, Table>();

/** Leases in memory, shared by all stores of one name in this process. */
export function openMemoryLeases({ name }: MemoryLeasesOptions): LeaseStore {
  const table = TABLES.get(name) ?? { records: new Map<string, LeaseRecord>(), users: 0 };
  TABLES.set(name, table);
  table.users++;
  let closed = false;

  function begin(signal: AbortSignal): Map<string, LeaseRecord> {
    signal.throwIfAborted();
    if (closed) throw new BridgeError("UNAVAILABLE", "the memory lease store is closed");
    return table.records;
  }

  return {
    async read(key, signal) {
      const record = begin(signal).get(key);
      return record && { ...record };
    },
    async replace(key, expected, next, signal) {
      const records = begin(signal);
      const there = records.get(key);
      if (there?.token !== expected?.token || there?.beat !== expected?.beat) return false;
      records.set(key, { ...next });
      return true;
    },
    async [Symbol.asyncDispose]() {
      if (closed) return;
      closed = true;
      if (--table.users === 0) TABLES.delete(name);
    },
  };
}
