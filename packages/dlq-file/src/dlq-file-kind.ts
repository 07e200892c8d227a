import type { FileKind } from "@bridge/file/internal";
import { IS_KEPT_BACK } from "./kept-back.ts";
import { mendRows } from "./mend-rows.ts";

/** The indexes by what they are ordered by; a page of any filter is read from one of them. */
export const INDEXES = {
  /** It has all that is counted or looked for by a key: that is read of it alone. */
  all: "dead_letter_by_time",
  route: "dead_letter_by_route",
  category: "dead_letter_by_category",
  both: "dead_letter_by_route_and_category",
  fingerprint: "dead_letter_by_fingerprint",
  /** Of those that are quarantined, which are few. */
  quarantined: "dead_letter_quarantined",
} as const;

/** What there is of an entry, in the trash and out of it, but its number. */
export const COLUMNS = `
  id, failed_at, route_id, binding_id, category, error_code, fingerprint, envelope_key, correlation_key, marks, head,
  envelope, payload`;

// The payload comes last, so that a list does not read over it. The head holds the whole of an entry, so that one digest
// covers all of it; marks have one of their own. The keys are hashes of ids that come in no order. An index of them would write a
// page for each entry, which costs a quarter of the throughput; going through the keys of a million takes a quarter of a second.
const TYPES = `
  id TEXT NOT NULL,
  failed_at INTEGER NOT NULL,
  route_id TEXT NOT NULL,
  binding_id TEXT NOT NULL,
  category TEXT NOT NULL,
  error_code TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  envelope_key INTEGER NOT NULL,
  correlation_key INTEGER NOT NULL,
  marks TEXT,
  head TEXT NOT NULL,
  envelope TEXT NOT NULL,
  payload BLOB NOT NULL`;

const SECOND = `
CREATE TABLE dead_letter (
  number INTEGER PRIMARY KEY,
  ${TYPES},
  UNIQUE (id)
);
CREATE INDEX ${INDEXES.all} ON dead_letter (
  failed_at, id, envelope_key, correlation_key, route_id, binding_id, category, error_code, fingerprint
);
CREATE INDEX ${INDEXES.route} ON dead_letter (route_id, failed_at, id);
CREATE INDEX ${INDEXES.category} ON dead_letter (category, failed_at, id);
CREATE INDEX ${INDEXES.both} ON dead_letter (route_id, category, failed_at, id);
CREATE INDEX ${INDEXES.fingerprint} ON dead_letter (fingerprint, failed_at, id);
CREATE TABLE dead_letter_trash (
  number INTEGER PRIMARY KEY,
  batch TEXT NOT NULL,
  until INTEGER NOT NULL,
  ${TYPES},
  UNIQUE (batch, id)
);
CREATE INDEX dead_letter_trash_by_end ON dead_letter_trash (until);
CREATE INDEX dead_letter_trash_by_batch ON dead_letter_trash (batch);
CREATE TABLE dead_letter_job (
  id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  document TEXT NOT NULL
);
CREATE INDEX dead_letter_job_by_time ON dead_letter_job (created_at, id);
`;

const THIRD = `CREATE INDEX ${INDEXES.quarantined} ON dead_letter (failed_at, id) WHERE ${IS_KEPT_BACK}`;

export const DLQ_FILE: FileKind = {
  name: "DLQ",
  remedy: "redrive or delete entries",
  applicationId: 0x42_72_44_51, // "BrDQ"
  // Schema 1 was that of builds before the first release, which showed less of an entry than there is to show now.
  migrations: ["", SECOND, THIRD],
  mend: mendRows,
  readsFrom: 2,
};
