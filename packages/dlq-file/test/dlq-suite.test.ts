import { describeDlqParts, describeDlqStore } from "@bridge/conformance";
import { type Clock, type DlqStore, systemClock } from "@bridge/ports";
import { times } from "@bridge/tooling/long";
import { changedCopyOf, openScratchDlq, survivorOf } from "./support/scratch-dlq.ts";

/** Its minutes are moments. */
const HASTY: Clock = { ...systemClock, every: (ms, tick) => systemClock.every(ms === 60_000 ? 20 : ms, tick) };

const subject = {
  open: async () => openScratchDlq(),
  reopen: async (store: DlqStore) => survivorOf(store),
};

describeDlqStore("file", subject);
describeDlqParts("file", {
  ...subject,
  rewriteHead: (store, id, change) =>
    changedCopyOf(store, (db) => {
      const { head } = db.prepare("SELECT head FROM dead_letter WHERE id = ?").get(id) as { readonly head: string };
      db.prepare("UPDATE dead_letter SET head = ? WHERE id = ?").run(change(head), id);
    }),
  moveInTime: (store, id, failedAt) =>
    changedCopyOf(store, (db) => {
      db.prepare("UPDATE dead_letter SET failed_at = ? WHERE id = ?").run(failedAt, id);
    }),
  rename: (store, id, to) =>
    changedCopyOf(store, (db) => {
      db.prepare("UPDATE dead_letter SET id = ? WHERE id = ?").run(to, id);
    }),
  renameInTrash: (store, { batch, id }, to) =>
    changedCopyOf(store, (db) => {
      db.prepare("UPDATE dead_letter_trash SET id = ? WHERE batch = ? AND id = ?").run(to, batch, id);
    }),
  moveEnds: (store, batch, until) =>
    changedCopyOf(
      store,
      (db) => {
        db.prepare("UPDATE dead_letter_trash SET until = ? WHERE batch = ?").run(until, batch);
      },
      { clock: HASTY },
    ),
  rewriteJob: (store, id, change) =>
    changedCopyOf(store, (db) => {
      const select = db.prepare("SELECT document FROM dead_letter_job WHERE id = ?");
      const { document } = select.get(id) as { readonly document: string };
      db.prepare("UPDATE dead_letter_job SET document = ? WHERE id = ?").run(change(document), id);
    }),
  courses: times(6, 60),
});
