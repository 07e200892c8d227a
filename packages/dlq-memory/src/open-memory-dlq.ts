import { BridgeError, type DlqAdmin, type DlqStore } from "@bridge/ports";
import { DeadLetterIndex } from "./dead-letter-index.ts";

export interface MemoryDlqOptions {
  /** The most entries; a write beyond it fails as `UNAVAILABLE`, nothing is ever evicted. */
  readonly maxEntries: number;
}

/**
 * A DLQ store in memory. Its entries are lost when it is disposed, and with the process.
 *
 * `put` rejects with a {@link BridgeError} `UNAVAILABLE` when the store is full.
 */
export function openMemoryDlq({ maxEntries }: MemoryDlqOptions): DlqStore & { readonly admin: DlqAdmin } {
  const index = new DeadLetterIndex();
  let closed = false;

  const fullness = (): string | undefined =>
    index.size < maxEntries
      ? undefined
      : `the memory DLQ is full: it holds max_entries ${maxEntries}; redrive or delete entries, or raise max_entries`;

  function begin(signal: AbortSignal): void {
    signal.throwIfAborted();
    if (closed) throw new BridgeError("UNAVAILABLE", "the memory DLQ is closed");
  }

  return {
    async put(entry, signal) {
      begin(signal);
      if (index.has(entry.id)) return;
      const fault = fullness();
      if (fault !== undefined) throw new BridgeError("UNAVAILABLE", fault);
      index.add(entry);
    },
    async get(id, signal) {
      begin(signal);
      return index.get(id);
    },
    async list(filter, page, signal) {
      begin(signal);
      return index.list(filter, page);
    },
    async count(cap, signal) {
      begin(signal);
      return Math.min(cap, index.size);
    },
    admin: {
      async delete(ids, signal) {
        begin(signal);
        return index.delete(ids);
      },
      async deleteWhere(filter, limit, signal) {
        begin(signal);
        return index.deleteWhere(filter, limit ?? Infinity);
      },
    },
    health: () => ({ fault: fullness(), setAside: [] }),
    async [Symbol.asyncDispose]() {
      closed = true;
      index.clear();
    },
  };
}
