import { describeDlqParts, describeDlqStore } from "@bridge/conformance";
import type { DlqStore } from "@bridge/ports";
import { times } from "@bridge/tooling/long";
import { changedCopyOf, openScratchDlq, survivorOf } from "./support/scratch-dlq.ts";

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
  rewriteJob: (store, id, change) =>
    changedCopyOf(store, (db) => {
      const select = db.prepare("SELECT document FROM dead_letter_job WHERE id = ?");
      const { document } = select.get(id) as { readonly document: string };
      db.prepare("UPDATE dead_letter_job SET document = ? WHERE id = ?").run(change(document), id);
    }),
  courses: times(6, 60),
});
