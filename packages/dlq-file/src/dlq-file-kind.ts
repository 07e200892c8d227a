import type { FileKind } from "@bridge/file/internal";

/** The indexes by what they are ordered by; a page of any filter is read from one of them. */
export const INDEXES = {
  all: "dead_letter_by_time",
  route: "dead_letter_by_route",
  category: "dead_letter_by_category",
  both: "dead_letter_by_route_and_category",
} as const;

// The payload comes last, so that a list does not read over it. The head holds the whole of an entry, so that one digest
// covers all of it.
const FIRST = `
CREATE TABLE dead_letter (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  failed_at INTEGER NOT NULL,
  route_id TEXT NOT NULL,
  category TEXT NOT NULL,
  head TEXT NOT NULL,
  envelope TEXT NOT NULL,
  payload BLOB NOT NULL
);
CREATE INDEX ${INDEXES.all} ON dead_letter (failed_at, id);
CREATE INDEX ${INDEXES.route} ON dead_letter (route_id, failed_at, id);
CREATE INDEX ${INDEXES.category} ON dead_letter (category, failed_at, id);
CREATE INDEX ${INDEXES.both} ON dead_letter (route_id, category, failed_at, id);
`;

export const DLQ_FILE: FileKind = {
  name: "DLQ",
  remedy: "redrive or delete entries",
  applicationId: 0x42_72_44_51, // "BrDQ"
  migrations: [FIRST],
};
