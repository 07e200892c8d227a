import type { WriteTrial } from "../client/write-trial.ts";
import { CHANGES, COLUMNS, ENTRIES, JOBS, TRASH } from "./dlq-tables.ts";

const TRIAL = "id LIKE 'trial %'";

/** For the client's trial: an entry that is written, marked, moved to the trash and back, and deleted, and a job, each as others are. */
export const ENTRY_TRIAL: WriteTrial = {
  write: (table) => `
    INSERT INTO ${table(ENTRIES)} (${COLUMNS})
    SELECT 'trial ' || random(), '', '', '', '', 0, '', '', '', '', '', '', NULL WHERE $1::int = 1`,
  ends: [
    (table) => `UPDATE ${table(ENTRIES)} SET marks = '{}' WHERE failed_at = 0 AND ${TRIAL}`,
    (table) => `
    WITH gone AS (
      DELETE FROM ${table(ENTRIES)} WHERE failed_at = 0 AND ${TRIAL} RETURNING ${COLUMNS}
    )
    INSERT INTO ${table(TRASH)} (batch, until, ${COLUMNS}) SELECT 'trial', 0, ${COLUMNS} FROM gone`,
    (table) => `
    WITH gone AS (
      DELETE FROM ${table(TRASH)} WHERE batch = 'trial' AND ${TRIAL} RETURNING ${COLUMNS}
    )
    INSERT INTO ${table(ENTRIES)} (${COLUMNS}) SELECT ${COLUMNS} FROM gone`,
    (table) => `
    WITH gone AS (
      DELETE FROM ${table(ENTRIES)} WHERE failed_at = 0 AND ${TRIAL} RETURNING id
    ), noted AS (
      INSERT INTO ${table(CHANGES)} (token, ids) SELECT 'trial', array_agg(id) FROM gone HAVING count(*) > 0
    )
    SELECT id FROM gone`,
    (table) => `
    INSERT INTO ${table(JOBS)} (id, revision, state, created_at, document) VALUES ('trial ' || random(), 1, '', 0, '')`,
    (table) => `UPDATE ${table(JOBS)} SET revision = 2 WHERE ${TRIAL}`,
    (table) => `DELETE FROM ${table(JOBS)} WHERE ${TRIAL}`,
  ],
};
