import type { Migrations } from "../client/migrations.ts";
import { EVERYTHING } from "../client/privileges.ts";
import { IS_KEPT_BACK } from "./kept-back.ts";

export const ENTRIES = "dead_letters";
export const CHANGES = "dead_letter_changes";
export const JOBS = "dead_letter_jobs";
export const TRASH = "dead_letter_trash";

/** All that is written of an entry; `marks` are added later. */
export const COLUMNS =
  "id, route_id, binding_id, category, error_code, failed_at, fingerprint, envelope_key, correlation_key, head, envelope, payload, marks";

/** A condition: the head of the row says the id that it is found by. It is JSON, in whose texts quotes have a backslash. */
export function saysId(row: string): string {
  return `strpos(${row}.head, '"id":' || to_json(${row}.id)::text) > 0`;
}

/** An id that no entry has: under it, what is another entry than its id says is kept, and is spoiled. */
export const NEW_ID = "'spoiled-' || substr(md5(random()::text || clock_timestamp()::text), 1, 16)";

/** Times are epoch milliseconds. */
const ENTRY = `
        route_id text COLLATE "C" NOT NULL,
        binding_id text COLLATE "C" NOT NULL,
        category text COLLATE "C" NOT NULL,
        error_code text COLLATE "C" NOT NULL,
        failed_at bigint NOT NULL,
        fingerprint text COLLATE "C" NOT NULL,
        envelope_key bytea NOT NULL,
        correlation_key bytea NOT NULL,
        head text NOT NULL,
        marks text,
        envelope text NOT NULL,
        payload bytea NOT NULL`;

/**
 * The table of dead letters by id, with an index for each way to filter, in the order of failure; that of all of them has what
 * entries are counted by, too; those that are quarantined, which are few, have one more. What was deleted can be in the trash for a
 * time, and the jobs that work on entries are with them. {@link CHANGES} holds what was changed lately by whom. The payload is last and kept apart when it is large: lists do not read it.
 * Texts are compared by their bytes, whatever the language of the database.
 */
export const DLQ_TABLES: Migrations = {
  store: "dlq",
  needs: { [ENTRIES]: EVERYTHING, [JOBS]: EVERYTHING, [TRASH]: EVERYTHING, [CHANGES]: ["SELECT", "INSERT", "DELETE"] },
  steps: [
    (table) => `
      CREATE TABLE ${table(ENTRIES)} (
        id text COLLATE "C" PRIMARY KEY,${ENTRY}
      );
      CREATE INDEX dead_letters_in_order ON ${table(ENTRIES)} (failed_at, id)
        INCLUDE (route_id, binding_id, category, error_code, fingerprint);
      CREATE INDEX dead_letters_by_route ON ${table(ENTRIES)} (route_id, failed_at, id);
      CREATE INDEX dead_letters_by_category ON ${table(ENTRIES)} (category, failed_at, id);
      CREATE INDEX dead_letters_by_route_and_category ON ${table(ENTRIES)} (route_id, category, failed_at, id);
      CREATE INDEX dead_letters_by_fingerprint ON ${table(ENTRIES)} (fingerprint, failed_at, id);
      CREATE INDEX dead_letters_by_envelope ON ${table(ENTRIES)} (envelope_key, failed_at, id);
      CREATE INDEX dead_letters_by_correlation ON ${table(ENTRIES)} (correlation_key, failed_at, id);
      CREATE TABLE ${table(TRASH)} (
        batch text COLLATE "C" NOT NULL,
        until bigint NOT NULL,
        id text COLLATE "C" NOT NULL,${ENTRY},
        PRIMARY KEY (batch, id)
      );
      CREATE INDEX dead_letter_trash_by_end ON ${table(TRASH)} (until);
      CREATE TABLE ${table(JOBS)} (
        id text COLLATE "C" PRIMARY KEY,
        revision bigint NOT NULL,
        state text COLLATE "C" NOT NULL,
        created_at bigint NOT NULL,
        document text NOT NULL
      );
      CREATE TABLE ${table(CHANGES)} (
        token text COLLATE "C" NOT NULL,
        ids text[] NOT NULL,
        made_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX dead_letter_changes_by_token ON ${table(CHANGES)} (token)`,
    (table) => `CREATE INDEX dead_letters_quarantined ON ${table(ENTRIES)} (failed_at, id) WHERE ${IS_KEPT_BACK}`,
  ],
};
