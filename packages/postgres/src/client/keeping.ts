import { neededBy } from "./needed.ts";
import type { Migrations } from "./migrations.ts";
import type { Statement } from "./statement.ts";

/** All statements are written for it. */
const ISOLATION = "read committed";
/** What each store has besides what its steps make. */
export const VERSIONS = "migrations";

/** How the server keeps what the bridge's user writes. */
export interface Keeping {
  readonly synced: string;
  readonly isolation: string;
  /** As statements name them, such as `TABLE bridge.leases`. */
  readonly unlogged: readonly string[];
  readonly hidden: readonly string[];
}

/** Asks for the {@link Keeping} of the tables of one store in `schema`. */
export function keepingOf(migrations: Migrations, schema: string): Omit<Statement, "what"> {
  const names = neededBy(migrations)
    .filter(({ kind }) => kind === "table" || kind === "sequence")
    .map(({ name }) => name);
  const text = `
    SELECT current_setting('synchronous_commit') AS synced, current_setting('default_transaction_isolation') AS isolation,
      ${those("c.relpersistence <> 'p'")} AS unlogged,
      ${those("c.relkind <> 'S' AND row_security_active(c.oid)")} AS hidden`;
  return { text, values: [schema, [VERSIONS, ...names]] };
}

/** Names those of `$2` in the schema `$1` of which `which` is true. */
function those(which: string): string {
  return `ARRAY(
    SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || format('%I.%I', n.nspname, c.relname)
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = ANY ($2::text[]) AND c.relkind IN ('r', 'p', 'S') AND ${which} ORDER BY 1)`;
}

/** Why that is not enough, with the remedy; `undefined` when it is. */
export function wrongWith({ synced, isolation, unlogged, hidden }: Keeping): string | undefined {
  if (synced === "off")
    return "synchronous_commit is off for the bridge's user, so that a crash of the server would lose what it has said is written: ALTER ROLE … SET synchronous_commit = on";
  if (isolation !== ISOLATION)
    return `default_transaction_isolation is ${isolation} for the bridge's user, and its statements need ${ISOLATION}: ALTER ROLE … SET default_transaction_isolation = '${ISOLATION}'`;
  if (unlogged.length > 0)
    return `a crash of the server would empty what is unlogged: ${unlogged.map((name) => `ALTER ${name} SET LOGGED`).join("; ")}`;
  if (hidden.length > 0)
    return `row level security may hide rows from the bridge's user: ${hidden.map((name) => `ALTER ${name} DISABLE ROW LEVEL SECURITY`).join("; ")}; or ALTER ROLE … BYPASSRLS`;
  return undefined;
}
