import type { FileKind } from "../database/file-kind.ts";
import { mendRecords } from "./mend-records.ts";

// `record` is what stays as evidence against duplicates; `content` is there as long as the record is unfinished, and
// so is also the list of what is to be sent. Payloads come last, so that nothing has to read over them. `retry_delay` is how
// long a record was to wait, so that it never waits longer because the clock was set back. `seal` is of the whole record, so
// that what a disk has changed is never sent; `spoiled` is where it is kept once an operator knows of it.
const FIRST = `
CREATE TABLE lane (
  lane INTEGER PRIMARY KEY,
  route_id TEXT NOT NULL,
  binding_id TEXT NOT NULL,
  UNIQUE (route_id, binding_id)
);
CREATE TABLE record (
  number INTEGER PRIMARY KEY,
  lane INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  identity TEXT NOT NULL,
  payload_digest TEXT NOT NULL,
  ordering_key TEXT,
  entry_id TEXT,
  created_at INTEGER NOT NULL,
  status INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL DEFAULT 0,
  retry_delay INTEGER NOT NULL DEFAULT 0,
  finished_at INTEGER
);
CREATE UNIQUE INDEX record_by_identity ON record (lane, identity);
CREATE INDEX record_by_end ON record (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX record_by_entry ON record (entry_id) WHERE entry_id IS NOT NULL;
CREATE TABLE content (
  number INTEGER PRIMARY KEY,
  lane INTEGER NOT NULL,
  address TEXT NOT NULL,
  envelope TEXT NOT NULL,
  received TEXT,
  payload BLOB NOT NULL,
  received_payload BLOB,
  seal BLOB NOT NULL
);
CREATE INDEX content_by_lane ON content (lane, number);
CREATE TABLE spoiled AS SELECT * FROM content WHERE false;
`;

export const OUTBOX_FILE: FileKind = {
  name: "outbox",
  remedy: "let it drain",
  applicationId: 0x42_72_4f_58, // "BrOX"
  migrations: [FIRST],
  mend: mendRecords,
  // Pages that are freed and used again have SQLite go through its whole cache at each commit: 16 MiB took 40 µs.
  cacheKib: 4 * 1024,
};
