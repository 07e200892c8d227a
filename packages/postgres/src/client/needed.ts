import type { Migrations } from "./migrations.ts";

/** Something that the statements of a store make, as the server's catalogue names it. */
export interface Needed {
  readonly kind: "table" | "column" | "index" | "sequence" | "function";
  readonly name: string;
  /** That a column or an index is of. */
  readonly table?: string;
}

/** Stands around the name of a table, where there would be a schema and quotes. */
const NAME = String.raw`«(\w+)»`;
const MADE = new RegExp(String.raw`CREATE (?:OR REPLACE )?(SEQUENCE|FUNCTION) ${NAME}`, "g");
const INDEX = new RegExp(String.raw`CREATE (?:UNIQUE )?INDEX (\w+) ON ${NAME}`, "g");
const TABLE = new RegExp(String.raw`CREATE TABLE ${NAME} \(([^;]*)`, "g");
const ADDED = new RegExp(String.raw`ALTER TABLE ${NAME} ADD COLUMN (\w+)`, "g");
/** In the body of a table: a name in small letters begins a column, a word in capitals something else. */
const COLUMN = /(?:^|,)\s*([a-z]\w*) [a-z]/g;

/** What is there when all steps are made: read from their own statements, so that nothing is said twice. */
export function neededBy({ steps }: Migrations): readonly Needed[] {
  const text = steps.map((step) => step((name) => `«${name}»`)).join("\n");
  const needed = new Map<string, Needed>();
  const add = (one: Needed) => needed.set(keyOf(one), one);
  for (const [, table = "", body = ""] of text.matchAll(TABLE)) {
    add({ kind: "table", name: table });
    for (const [, name = ""] of body.matchAll(COLUMN)) add({ kind: "column", name, table });
    if (body.includes("PRIMARY KEY")) add({ kind: "index", name: `${table}_pkey`, table });
  }
  for (const [, table = "", name = ""] of text.matchAll(ADDED)) add({ kind: "column", name, table });
  for (const [, name = "", table = ""] of text.matchAll(INDEX)) add({ kind: "index", name, table });
  for (const [, kind, name = ""] of text.matchAll(MADE)) {
    add({ kind: kind === "SEQUENCE" ? "sequence" : "function", name });
  }
  return [...needed.values()];
}

/** All that there is in the schema `$1`, each as {@link keyOf} has it. */
export const THERE = `
  SELECT CASE WHEN c.relkind = 'S' THEN 'sequence' WHEN c.relkind IN ('i', 'I') THEN 'index' WHEN c.relkind IN ('r', 'p') THEN 'table'
         ELSE 'other' END || ' ' || c.relname AS key
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1
   UNION ALL
  SELECT 'column ' || c.relname || '.' || a.attname
    FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
   WHERE n.nspname = $1 AND a.attnum > 0 AND NOT a.attisdropped
   UNION ALL
  SELECT 'function ' || p.proname FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE n.nspname = $1`;

/** What of it is not there; of a table that is missing nothing else is named. */
export function missingOf(needed: readonly Needed[], there: ReadonlySet<string>): readonly Needed[] {
  const missing = needed.filter((one) => !there.has(keyOf(one)));
  const tables = new Set(missing.filter(({ kind }) => kind === "table").map(({ name }) => name));
  return missing.filter(({ table }) => table === undefined || !tables.has(table));
}

/** Whether not one of its tables is there. */
export function areTablesGone(parts: readonly Needed[], lacks: readonly Needed[]): boolean {
  const tables = parts.filter(({ kind }) => kind === "table");
  return tables.length > 0 && tables.every((table) => lacks.includes(table));
}

export function keyOf({ kind, name, table }: Needed): string {
  return kind === "column" ? `${kind} ${table}.${name}` : `${kind} ${name}`;
}
