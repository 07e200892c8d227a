/** The least that SQLite can do: groups of rows in one table, each group one durable transaction. @module */
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { answer, ready } from "../harness/answer.ts";
import { loopDelayDuring } from "../harness/loop-delay.ts";
import { persistJob } from "../persist/persist-job.ts";

const { inFlight, size, path } = persistJob();
const db = new DatabaseSync(path);
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
db.exec(`CREATE TABLE outbox (number INTEGER PRIMARY KEY, envelope_id TEXT NOT NULL UNIQUE, route TEXT, binding TEXT,
  state INTEGER, attempts INTEGER, created_at INTEGER, headers TEXT, payload BLOB)`);
const insert = db.prepare("INSERT INTO outbox VALUES (?, ?, 'route', 'to-out', 0, 0, ?, ?, ?)");
const payload = new Uint8Array(size).fill(0x61);
const headers = JSON.stringify({ device: "boiler-3", unit: "celsius" });
let number = 0;

answer("persist", (rows: number) =>
  loopDelayDuring(async () => {
    for (const end = number + rows; number < end; await turn()) {
      db.exec("BEGIN");
      for (let left = Math.min(inFlight, end - number); left > 0; left--) {
        insert.run(++number, `message-${number}`, Date.now(), headers, payload);
      }
      db.exec("COMMIT");
    }
  }),
);
ready();
