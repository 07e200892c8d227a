/**
 * PostgreSQL for tests: schemas of their own on the server that stands ready on loopback. Where there is none, what needs
 * it is skipped and counted, unless BRIDGE_REQUIRE_BROKERS=1 makes its absence a failure. @module
 */
import { randomBytes } from "node:crypto";
import { env } from "node:process";
import { Client } from "pg";
import { PATIENCE } from "./patience.ts";

/** The server, and a user that may make schemas. */
export const POSTGRES_URL: string = env["BRIDGE_TEST_POSTGRES"] ?? "postgresql://postgres@127.0.0.1:5432/test";

/** For `describe.skipIf`: whether there is no server. */
export const noPostgres: boolean = env["BRIDGE_REQUIRE_BROKERS"] !== "1" && !(await answers());

/** A schema that nobody else uses, and that is dropped in the end. */
export interface TestSchema extends AsyncDisposable {
  /** For the options of a store. */
  readonly connection: { readonly url: string; readonly schema: string; readonly pool_size: number };
  /** What a statement returns, by a connection that no store uses. */
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

/** Its name is free; the schema itself is not made. */
export async function testSchema(url: string = POSTGRES_URL): Promise<TestSchema> {
  const schema = `test_${randomBytes(6).toString("hex")}`;
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return {
    connection: { url, schema, pool_size: 5 },
    rows: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows,
    async [Symbol.asyncDispose]() {
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await client.end();
    },
  };
}

async function answers(): Promise<boolean> {
  const client = new Client({ connectionString: POSTGRES_URL, connectionTimeoutMillis: PATIENCE.timeout });
  client.on("error", () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
