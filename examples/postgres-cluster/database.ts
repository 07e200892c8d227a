import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** The user that may make databases on a server of one's own machine. */
const LOCAL = "postgresql://postgres@127.0.0.1:5432/postgres";

export interface Database extends AsyncDisposable {
  readonly url: string;
}

/** The database that `url` names, which is left as it is in the end; else one of its own on loopback, which is dropped. */
export async function openDatabase(url: string | undefined): Promise<Database> {
  if (url !== undefined) return { url, async [Symbol.asyncDispose]() {} };
  const name = `bridge_example_${randomBytes(4).toString("hex")}`;
  await tell(`CREATE DATABASE ${name}`);
  const own = new URL(LOCAL);
  own.pathname = `/${name}`;
  return { url: own.href, [Symbol.asyncDispose]: () => tell(`DROP DATABASE ${name} WITH (FORCE)`) };
}

async function tell(statement: string): Promise<void> {
  const client = new Client({ connectionString: LOCAL, connectionTimeoutMillis: 5_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(statement);
  } catch (error) {
    const remedy = "start a PostgreSQL on 127.0.0.1:5432 that lets postgres in, or give one with --database URL";
    throw new Error(`${(error as Error).message}: ${remedy}`, { cause: error });
  } finally {
    await client.end().catch(() => {});
  }
}
