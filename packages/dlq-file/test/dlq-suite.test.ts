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
  courses: times(6, 60),
});
