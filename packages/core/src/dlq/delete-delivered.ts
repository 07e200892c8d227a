import { BridgeError, type Clock, type DlqAdmin, type DlqStore } from "@bridge/ports";
import { isSpoiled, orAborted } from "@bridge/ports/internal";
import type { DeliveredEntries } from "./delivered-entries.ts";
import { entryOrSpoiled } from "./entry-or-spoiled.ts";

/** A store that can delete. */
export type DeletingStore = Pick<DlqStore, "get"> & { readonly admin: Pick<DlqAdmin, "delete"> };

/** Between two tries at a store that has no room for more writes. */
const PAUSE_MS = 100;
/** Entries of one call. */
const AT_ONCE = 100;

/**
 * Deletes an entry that is delivered. A store that takes no more writes for the moment is waited for, as long as `signal` lets:
 * with the entry there, another process would send it again.
 */
export async function deletePatiently(
  { store, clock }: { readonly store: DeletingStore; readonly clock: Clock },
  id: string,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  for (;;) {
    try {
      return await orAborted(store.admin.delete([id], signal, { delivered: true }), signal);
    } catch (thrown) {
      const { code, charged } = BridgeError.from(thrown);
      if (code !== "UNAVAILABLE" || charged) throw thrown;
      await clock.delay(PAUSE_MS, signal).catch(() => {});
      if (signal.aborted) throw thrown;
    }
  }
}

/**
 * Deletes those of `ids` that are delivered and were not deleted. Returns which are there no more; the others stay remembered.
 * Never rejects.
 */
export async function deleteDelivered(
  {
    store,
    delivered,
    ids,
  }: { readonly store: DeletingStore; readonly delivered: DeliveredEntries; readonly ids: readonly string[] },
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const gone = new Set<string>();
  try {
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const slice = ids.slice(start, start + AT_ONCE);
      const reading = slice.map((id) => entryOrSpoiled(store.get(id, signal)));
      const entries = await orAborted(Promise.all(reading), signal);
      // The same message may have failed again, and be another entry under the same id, and what is spoiled may be that. What is not
      // there may be in the trash.
      const own = slice.filter((_, nth) => {
        const entry = entries[nth];
        return entry === undefined || (!isSpoiled(entry) && delivered.has(entry));
      });
      if (own.length > 0) await orAborted(store.admin.delete(own, signal, { delivered: true }), signal);
      for (const id of slice) {
        delivered.delete(id);
        gone.add(id);
      }
    }
  } catch {
    // What is left says that it is.
  }
  return gone;
}
