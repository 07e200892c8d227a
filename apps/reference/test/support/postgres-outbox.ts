import { tcpProxy, type TcpProxy } from "@bridge/conformance";
import { POSTGRES_URL, testSchema } from "@bridge/tooling/test-postgres";
import type { AwayStore, Trouble } from "./away-store.ts";
import type { Folder } from "./folder.ts";

/** Some statements are made between two cuts, and some are not. */
const CUT_MS = 150;

/** How a trouble begins at the server, and how it is over. */
type Statements = readonly [begin: string, end: string];

/** A user and a schema of its own, on the server that stands ready, by way of a proxy. */
export async function postgresOutbox(folder: Folder): Promise<AwayStore> {
  const tables = await testSchema();
  const { schema } = tables.connection;
  const url = new URL(POSTGRES_URL);
  const proxy: TcpProxy = await tcpProxy({ target: { host: url.hostname, port: Number(url.port || 5432) } });
  await tables.rows(`CREATE ROLE ${schema} SUPERUSER LOGIN`);
  url.username = schema;
  url.port = String(proxy.port);
  const block = `{type: postgres, options: {url: "${url.href}", schema: ${schema}}}`;
  folder.write("tables.yaml", `bridge: {id: stored}\nstores: {outbox: ${block}}\n`);
  await using maker = folder.run(["-create-tables", "-config", "tables.yaml"]);
  if ((await maker.ended) !== 0) throw new Error(maker.stderr);
  // The tables stay its own, but what is revoked it may no more.
  await tables.rows(`ALTER ROLE ${schema} NOSUPERUSER`);
  const at = statementsOf(schema);
  let end: string | undefined;
  let calm = (): void => {};
  return {
    block,
    run: () => folder.run(),
    async begin(trouble) {
      if (trouble === "hangs") return proxy.freeze();
      if (trouble === "answers after 29 s") return proxy.delay(29_000);
      if (trouble === "cuts connections") {
        const cuts = setInterval(() => proxy.cut(), CUT_MS);
        calm = () => clearInterval(cuts);
        return;
      }
      const statements = at[trouble];
      if (statements === undefined) proxy.refuse();
      else {
        end = statements[1];
        await tables.rows(statements[0]);
      }
      proxy.cut();
    },
    async end() {
      if (end !== undefined) await tables.rows(end);
      end = undefined;
      calm();
      // What was read-only stays so for its connections.
      proxy.cut();
      await proxy.restore();
    },
    async [Symbol.asyncDispose]() {
      calm();
      await proxy[Symbol.asyncDispose]();
      await tables.rows(`DROP SCHEMA IF EXISTS ${schema} CASCADE; DROP OWNED BY ${schema}; DROP ROLE ${schema}`);
      await tables[Symbol.asyncDispose]();
    },
  };
}

function statementsOf(schema: string): Partial<Record<Trouble, Statements>> {
  return {
    "answers errors": [`ALTER ROLE ${schema} NOLOGIN`, `ALTER ROLE ${schema} LOGIN`],
    "is a standby": [
      `ALTER ROLE ${schema} SET default_transaction_read_only = on`,
      `ALTER ROLE ${schema} RESET default_transaction_read_only`,
    ],
    "lets nobody insert": [
      `REVOKE INSERT ON ${schema}.outbox_queue FROM ${schema}`,
      `GRANT INSERT ON ${schema}.outbox_queue TO ${schema}`,
    ],
    "has lost a table": [
      `ALTER TABLE ${schema}.outbox_record RENAME TO elsewhere`,
      `ALTER TABLE ${schema}.elsewhere RENAME TO outbox_record`,
    ],
    "has lost its functions": [
      `ALTER SCHEMA ${schema} RENAME TO ${schema}_elsewhere`,
      `ALTER SCHEMA ${schema}_elsewhere RENAME TO ${schema}`,
    ],
    "has no connection left": [`ALTER ROLE ${schema} CONNECTION LIMIT 0`, `ALTER ROLE ${schema} CONNECTION LIMIT -1`],
  };
}
