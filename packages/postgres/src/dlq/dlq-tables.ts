import type { Migrations } from "../client/migrations.ts";
import { EVERYTHING } from "../client/privileges.ts";

export const ENTRIES = "dead_letters";
export const DELETIONS = "dead_letter_deletions";

/**
 * The table of dead letters by id, with an index for each way to filter, in the order of failure, and what was deleted
 * lately by whom ({@link DELETIONS}). The payload is last and kept apart when it is large: lists do not read it.
 * Texts are compared by their bytes, whatever the language of the database.
 */
export const DLQ_TABLES: Migrations = {
  store: "dlq",
  needs: { [ENTRIES]: EVERYTHING, [DELETIONS]: ["SELECT", "INSERT", "DELETE"] },
  steps: [
    (table) => `
      CREATE TABLE ${table(ENTRIES)} (
        id text COLLATE "C" PRIMARY KEY,
        route_id text COLLATE "C" NOT NULL,
        category text COLLATE "C" NOT NULL,
        failed_at bigint NOT NULL,
        head text NOT NULL,
        envelope text NOT NULL,
        payload bytea NOT NULL
      );
      CREATE INDEX dead_letters_in_order ON ${table(ENTRIES)} (failed_at, id);
      CREATE INDEX dead_letters_by_route ON ${table(ENTRIES)} (route_id, failed_at, id);
      CREATE INDEX dead_letters_by_category ON ${table(ENTRIES)} (category, failed_at, id);
      CREATE INDEX dead_letters_by_route_and_category ON ${table(ENTRIES)} (route_id, category, failed_at, id);
      CREATE TABLE ${table(DELETIONS)} (
        mark text COLLATE "C" NOT NULL,
        ids text[] NOT NULL,
        made_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX dead_letter_deletions_by_mark ON ${table(DELETIONS)} (mark)`,
  ],
};
