import type { WriteTrial } from "../client/write-trial.ts";
import { DELETIONS, ENTRIES } from "./dlq-tables.ts";

/** For the client's trial: an entry that is written and deleted, each as those of messages are. */
export const ENTRY_TRIAL: WriteTrial = {
  write: (table) => `
    INSERT INTO ${table(ENTRIES)} (id, route_id, category, failed_at, head, envelope, payload)
    SELECT 'trial ' || random(), '', '', 0, '', '', '' WHERE $1::int = 1`,
  end: (table) => `
    WITH gone AS (
      DELETE FROM ${table(ENTRIES)} WHERE failed_at = 0 AND id LIKE 'trial %' RETURNING id
    ), noted AS (
      INSERT INTO ${table(DELETIONS)} (mark, ids) SELECT 'trial', array_agg(id) FROM gone HAVING count(*) > 0
    )
    SELECT id FROM gone`,
};
