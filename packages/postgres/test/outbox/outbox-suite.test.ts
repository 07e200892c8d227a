import { PATIENCE } from "@bridge/tooling/patience";
import { describeOutboxStore } from "@bridge/conformance";
import type { OutboxStore } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, describe, vi } from "vitest";
import { type Connection, makeTables, type OpenOptions, openOn, type TestTables } from "./support/outbox.ts";
import { ServerTime } from "./support/server-time.ts";

const SPOILING = { changed: "payload = 'other'", unreadable: "envelope = '{garbage'" } as const;

describe.skipIf(noPostgres)("PostgreSQL", () => {
  let tables: TestTables;
  let time: ServerTime;
  /** As a user that nobody else is, so that the server tells its sessions. */
  let connection: Connection;
  beforeAll(async () => {
    tables = await makeTables();
    time = await ServerTime.of(tables.schema);
    const { schema, url = "" } = tables.connection;
    await tables.schema.rows(`CREATE ROLE ${schema} LOGIN SUPERUSER`);
    connection = { ...tables.connection, url: Object.assign(new URL(url), { username: schema }).href };
  });
  afterAll(async () => {
    await tables.schema.rows(`DROP ROLE ${connection.schema}`);
    await tables[Symbol.asyncDispose]();
  });

  async function open(options: Required<Pick<OpenOptions, "clock" | "retentionMs">>): Promise<OutboxStore> {
    return time.with(await openOn(connection, options), options.clock);
  }

  async function untilGone(): Promise<void> {
    const ask = "SELECT FROM pg_stat_activity WHERE usename = $1";
    const { length } = await tables.schema.rows(ask, [connection.schema]);
    if (length > 0) throw new Error(`${length} sessions are there still`);
  }

  describeOutboxStore("postgres, two handles on the same tables", {
    async open(options) {
      await tables.empty();
      return open(options);
    },
    second: async (_, options) => open(options),
    async spoil(store, id, how, options) {
      await store[Symbol.asyncDispose]();
      await tables.schema.rows(`UPDATE ${connection.schema}.outbox_queue SET ${SPOILING[how]} WHERE id = $1`, [id]);
      return open(options);
    },
    async reopen(store, options) {
      // With a process its connections end; what the server has got of it is done still, and not after the case.
      await store[Symbol.asyncDispose]();
      await vi.waitFor(untilGone, PATIENCE);
      return open(options);
    },
  });
});
