import { BridgeError, type Clock, type DlqAdmin, type DlqStore, type StoredJob, systemClock } from "@bridge/ports";
import { demandPage, Slices } from "@bridge/ports/internal";
import { DeadLetterIndex } from "./dead-letter-index.ts";
import { memoryJobs } from "./memory-jobs.ts";
import { Trash } from "./trash.ts";

export interface MemoryDlqOptions {
  /** The most entries, those in the trash too; a write beyond it fails as `UNAVAILABLE`, nothing is ever evicted. */
  readonly maxEntries: number;
  /** Default: the machine's. */
  readonly clock?: Clock | undefined;
}

/** It has all that a store may have. */
export type MemoryDlq = DlqStore &
  Required<Pick<DlqStore, "page" | "facets" | "marks" | "jobs">> & { readonly admin: Required<DlqAdmin> };

/**
 * A DLQ store in memory. Its entries are lost when it is disposed, and with the process.
 *
 * `put` rejects with a {@link BridgeError} `UNAVAILABLE` when the store is full.
 */
export function openMemoryDlq({ maxEntries, clock = systemClock }: MemoryDlqOptions): MemoryDlq {
  const index = new DeadLetterIndex();
  const jobs = new Map<string, StoredJob>();
  const trash = new Trash(clock, (batch) => jobs.get(batch)?.state === "undoing");
  let closed = false;

  const fullness = (): string | undefined =>
    index.size + trash.size < maxEntries
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
      demandPage(page);
      return index.list(filter, page);
    },
    async count(cap, signal) {
      begin(signal);
      return Math.min(cap, index.size);
    },
    async page(query, page, signal) {
      begin(signal);
      return index.page(query, page);
    },
    async facets(request, signal) {
      begin(signal);
      const tally = await new Slices(clock).run(index.tally(request), signal);
      return tally.facets(true, (head) => head);
    },
    marks: {
      async mark(changes, signal) {
        begin(signal);
        return new Set([...changes].filter(([id, change]) => index.mark(id, change)).map(([id]) => id));
      },
    },
    jobs: memoryJobs(jobs, begin),
    admin: {
      async delete(ids, signal, { delivered = false } = {}) {
        begin(signal);
        if (delivered) trash.erase(ids);
        return index.delete(ids);
      },
      async deleteWhere(filter, limit, signal) {
        begin(signal);
        return index.deleteWhere(filter, limit ?? Infinity);
      },
      trash: {
        async move(ids, batch, until, signal) {
          begin(signal);
          const taken = index.take(ids);
          trash.add(taken.values(), batch, until);
          return new Set(taken.keys());
        },
        async restore(batch, limit, signal) {
          begin(signal);
          const taken = trash.take(batch, limit);
          const restored = taken.filter((entry) => index.bringBack(entry)).length;
          return { restored, present: taken.length - restored };
        },
        async count(cap, signal, batch) {
          begin(signal);
          trash.sweep();
          return Math.min(cap, batch === undefined ? trash.size : trash.sizeOf(batch));
        },
      },
    },
    health: () => ({ fault: fullness(), setAside: [] }),
    async [Symbol.asyncDispose]() {
      closed = true;
      index.clear();
      trash[Symbol.dispose]();
    },
  };
}
