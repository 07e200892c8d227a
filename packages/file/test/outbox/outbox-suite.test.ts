import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describeOutboxStore } from "@bridge/conformance";
import { openScratchOutbox, survivorOf } from "./support/scratch-outbox.ts";

describeOutboxStore("file", {
  open: async (options) => openScratchOutbox(options),
  spoil: async (store, id, how, options) =>
    survivorOf(store, options, (path) => {
      const db = new DatabaseSync(path);
      const column = how === "changed" ? "payload = CAST('other' AS BLOB)" : "envelope = '{garbage'";
      db.prepare(`UPDATE content SET ${column} WHERE number = (SELECT number FROM record WHERE id = ?)`).run(id);
      db.close();
      // The log went into the file with the change.
      rmSync(`${path}-mark`, { force: true });
    }),
  reopen: async (store, options) => survivorOf(store, options),
});
