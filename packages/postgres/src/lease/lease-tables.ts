import type { Migrations } from "../client/migrations.ts";

/**
 * The table of leases: one row a key. Rows stay, because a token has to grow for ever; `written` tells each write from
 * every other. A row is changed in place once a second or so: the room for that is left in its page.
 */
export const LEASE_TABLES: Migrations = {
  store: "lease",
  needs: { leases: ["SELECT", "INSERT", "UPDATE"] },
  steps: [
    (table) => `
      CREATE TABLE ${table("leases")} (
        key text COLLATE "C" PRIMARY KEY,
        holder text NOT NULL,
        token bigint NOT NULL,
        beat bigint NOT NULL,
        ttl_ms double precision NOT NULL,
        written text NOT NULL
      ) WITH (fillfactor = 50)`,
  ],
};
