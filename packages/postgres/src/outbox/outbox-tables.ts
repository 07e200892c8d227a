import type { Migrations } from "../client/migrations.ts";
import { EVERYTHING } from "../client/privileges.ts";
import { CLAIM_FUNCTIONS } from "./claim-functions.ts";
import { WRITE_FUNCTIONS } from "./write-functions.ts";

type Table = (name: string) => string;

/**
 * `outbox_record` is what stays as evidence against duplicates; `outbox_queue` has what is not finished, and nothing
 * else. `outbox_spoiled` keeps what an operator has acknowledged that was changed. Payloads stay as they are: trying to compress what is read once costs more than its room.
 *
 * A loan, and an end, change a row in its place (HOT), for which pages leave room; so no index names a column that they
 * change. What is finished is vacuumed by its count, as the queue is short however much has gone through it.
 */
const TABLES = (table: Table): string => `
-- What loans and waits are measured by.
CREATE FUNCTION ${table("outbox_now")}() RETURNS timestamptz LANGUAGE sql AS 'SELECT clock_timestamp()';
CREATE SEQUENCE ${table("outbox_number")};
CREATE TABLE ${table("outbox_record")} (
  number bigint PRIMARY KEY,
  place uuid NOT NULL,
  id text COLLATE "C" NOT NULL,
  identity uuid NOT NULL,
  digest text COLLATE "C" NOT NULL,
  status smallint NOT NULL DEFAULT 0,
  finished_at timestamptz,
  mark double precision
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 1
);
CREATE UNIQUE INDEX outbox_record_by_identity ON ${table("outbox_record")} (identity);
CREATE INDEX outbox_record_by_id ON ${table("outbox_record")} (id);
CREATE TABLE ${table("outbox_queue")} (
  place uuid NOT NULL,
  number bigint NOT NULL,
  bytes int NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  created_at double precision NOT NULL,
  held_at timestamptz,
  held_until timestamptz,
  token text COLLATE "C",
  mark double precision,
  key_hash uuid,
  id text COLLATE "C" NOT NULL,
  route_id text COLLATE "C" NOT NULL,
  binding_id text COLLATE "C" NOT NULL,
  entry_id text COLLATE "C",
  ordering_key text COLLATE "C",
  address text COLLATE "C" NOT NULL,
  envelope text COLLATE "C" NOT NULL,
  received text COLLATE "C",
  payload bytea NOT NULL,
  received_payload bytea,
  seal bytea NOT NULL,
  PRIMARY KEY (place, number)
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 10000,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 100000,
  autovacuum_vacuum_cost_delay = 0,
  toast.autovacuum_vacuum_scale_factor = 0,
  toast.autovacuum_vacuum_threshold = 10000,
  toast.autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE ${table("outbox_queue")}
  ALTER COLUMN payload SET STORAGE EXTERNAL,
  ALTER COLUMN received_payload SET STORAGE EXTERNAL;
CREATE INDEX outbox_queue_by_key ON ${table("outbox_queue")} (place, key_hash, number) WHERE key_hash IS NOT NULL;
CREATE INDEX outbox_queue_by_entry ON ${table("outbox_queue")} USING hash (entry_id) WHERE entry_id IS NOT NULL;
CREATE TABLE ${table("outbox_spoiled")} (LIKE ${table("outbox_queue")});
`;

/** The tables of an outbox, for {@link migrate} and `bridge -create-tables`. */
export const OUTBOX_MIGRATIONS: Migrations = {
  store: "outbox",
  needs: {
    outbox_record: EVERYTHING,
    outbox_queue: EVERYTHING,
    outbox_spoiled: ["INSERT"],
    outbox_number: ["USAGE"],
  },
  steps: [(table) => TABLES(table) + WRITE_FUNCTIONS(table) + CLAIM_FUNCTIONS(table)],
};
