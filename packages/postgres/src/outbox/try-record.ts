import type { WriteTrial } from "../client/write-trial.ts";

/** No record is of it. */
const PLACE = "'00000000-0000-0000-0000-000000000000'::uuid";

/** The arguments of `outbox_persist` for one record. */
const RECORD = [
  PLACE,
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

/** For the client's trial: a record that is persisted, lent and delivered, each as those of messages are. */
export const RECORD_TRIAL: WriteTrial = {
  write: (table) =>
    `SELECT nth FROM ${table("outbox_persist")}(${RECORD.map((value) => `(ARRAY[${value}])[1:$1::int]`).join(", ")})`,
  ends: [
    (table) => `
    SELECT f.nth
      FROM ${table("outbox_claim")}(${PLACE}, 0, 1, 1, 60000, '{}', 'trial', '{}') AS c,
           ${table("outbox_finish")}(
             ARRAY[c.place], ARRAY[c.number], ARRAY[c.id], ARRAY['trial'], ARRAY[1], ARRAY[0], ARRAY[0::float8], 0
           ) AS f`,
  ],
};
