import { BridgeError } from "@bridge/ports";
import { VERSIONS } from "./keeping.ts";
import type { Migrations } from "./migrations.ts";
import { neededBy } from "./needed.ts";
import type { Statement } from "./statement.ts";

type Privilege = "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "USAGE";

/** What statements do with each table and sequence of a store; its functions are called besides. */
export type Privileges = Readonly<Record<string, readonly Privilege[]>>;

/** Of a table that rows go through. */
export const EVERYTHING = ["SELECT", "INSERT", "UPDATE", "DELETE"] as const;

export interface Denied {
  /** The statements that give the bridge's user what it lacks. */
  readonly grants: readonly string[];
}

/** `nextval` is content with either. */
const ALLOWED = `CASE c.relkind WHEN 'S' THEN has_sequence_privilege(c.oid, w.privilege || ', UPDATE')
                                ELSE has_table_privilege(c.oid, w.privilege) END`;

/** Asks for the {@link Denied} of the tables of one store in `schema`. What is not there is not denied. */
export function deniedOf(migrations: Migrations, schema: string): Omit<Statement, "what"> {
  const needed: Privileges = { ...migrations.needs, [VERSIONS]: ["SELECT"] };
  const needs = Object.entries(needed).flatMap(([name, privileges]) =>
    privileges.map((privilege) => ({ name, privilege })),
  );
  const functions = neededBy(migrations).filter(({ kind }) => kind === "function");
  const text = `
    WITH lacked AS (
      SELECT 'SCHEMA ' || quote_ident(n.nspname) AS object, 'USAGE' AS privilege
        FROM pg_namespace AS n WHERE n.nspname = $1 AND NOT has_schema_privilege(n.oid, 'USAGE')
       UNION ALL
      SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || format('%I.%I', n.nspname, c.relname), w.privilege
        FROM unnest($2::text[], $3::text[]) AS w (name, privilege) JOIN pg_class AS c ON c.relname = w.name
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'S') AND NOT ${ALLOWED}
       UNION ALL
      SELECT 'FUNCTION ' || format('%I.%I', n.nspname, p.proname), 'EXECUTE'
        FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
       WHERE n.nspname = $1 AND p.proname = ANY ($4::text[]) AND NOT has_function_privilege(p.oid, 'EXECUTE')
    )
    SELECT ARRAY(
      SELECT format('GRANT %s ON %s TO %I', string_agg(l.privilege, ', ' ORDER BY l.privilege), l.object, current_user)
        FROM lacked AS l GROUP BY l.object ORDER BY l.object) AS grants`;
  const values = [
    schema,
    needs.map(({ name }) => name),
    needs.map(({ privilege }) => privilege),
    functions.map(({ name }) => name),
  ];
  return { text, values };
}

/** That as a fault, with the remedy; `undefined` when nothing is denied. */
export function faultOf({ grants }: Denied, label: string): BridgeError | undefined {
  if (grants.length === 0) return undefined;
  const text = `${label}: not allowed: grant the privileges to the user: ${grants.join("; ")}`;
  return new BridgeError("FORBIDDEN", text, { charged: false });
}
