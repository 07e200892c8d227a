import type { DlqAdmin, DlqMarks, DlqStore, DlqTrash } from "@bridge/ports";
import type { JobsStore } from "./job-parts.ts";
import type { StoreWaits } from "./store-waits.ts";

/** What the owner of a job does with its entries. */
export interface EntriesStore extends Required<Pick<DlqStore, "get" | "page">> {
  readonly marks: DlqMarks;
  readonly admin: Pick<DlqAdmin, "delete"> & {
    readonly trash?: Pick<DlqTrash, "move" | "restore" | "count"> | undefined;
  };
}

/** The store with each call of it watched, whatever kind of job makes it. */
export function watchedStore(store: JobsStore, { reads, writes }: StoreWaits): EntriesStore {
  const { marks, admin } = store;
  const { trash } = admin;
  return {
    get: (id, signal) => reads.for(signal, () => store.get(id, signal)),
    page: (query, page, signal) => reads.for(signal, () => store.page(query, page, signal)),
    marks: { mark: (changes, signal) => writes.for(signal, () => marks.mark(changes, signal)) },
    admin: {
      delete: (ids, signal, options) => writes.for(signal, () => admin.delete(ids, signal, options)),
      ...(trash !== undefined && {
        trash: {
          move: (ids, batch, until, signal) => writes.for(signal, () => trash.move(ids, batch, until, signal)),
          restore: (batch, limit, signal) => writes.for(signal, () => trash.restore(batch, limit, signal)),
          // A trash that does not tell how much it has takes nothing, either; one that does may be full.
          count: (cap, signal, batch) => writes.for(signal, () => trash.count(cap, signal, batch), false),
        },
      }),
    },
  };
}
