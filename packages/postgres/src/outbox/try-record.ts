/** The arguments of `outbox_persist` for one record of no place. */
const RECORD = [
  "'00000000-0000-0000-0000-000000000000'::uuid",
  "''",
  "''",
  "1",
  "'trial'",
  "md5(random()::text || clock_timestamp()::text)::uuid",
  "''",
  "0::float8",
  "NULL::text",
  "NULL::uuid",
  "NULL::text",
  "''",
  "''",
  "NULL::text",
  "''::bytea",
  "NULL::bytea",
  "''::bytea",
];

/** For the client's trial: persists as many records as `$1` says, 0 or 1, as {@link Persists} does. */
export function tryRecord(table: (name: string) => string): string {
  const values = RECORD.map((value) => `(ARRAY[${value}])[1:$1::int]`);
  return `SELECT nth FROM ${table("outbox_persist")}(${values.join(", ")})`;
}
