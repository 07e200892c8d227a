import { DatabaseSync } from "node:sqlite";
import type { OutboxRecord } from "@bridge/ports";
import { expect, test } from "vitest";
import { OUTBOX_FILE } from "../../src/outbox/outbox-file-kind.ts";
import { outboxStatements } from "../../src/outbox/outbox-statements.ts";
import { contentValues, recordOf, recordValues } from "../../src/outbox/record-rows.ts";
import { outboxRecord, ROUTE } from "./support/records.ts";

const { envelope } = outboxRecord("a", {}, 2_000);
const received = { ...envelope, id: "received", subject: "as received" };

test.each<[what: string, fields: Partial<OutboxRecord>, payloads: readonly (number | null)[]]>([
  ["nothing else was received", {}, [2_000, null]],
  ["it was received with the same payload, which is kept once", { received }, [2_000, null]],
  ["it was received with another", { received: { ...received, payload: Uint8Array.of(1, 2, 3) } }, [2_000, 3]],
])("a record comes back from the file as it was: %s", (_, fields, payloads) => {
  const record = outboxRecord("a", { envelope, ...fields });
  const db = new DatabaseSync(":memory:");
  for (const step of OUTBOX_FILE.migrations) db.exec(step);
  const statements = outboxStatements(db);
  statements.addRecords([recordValues(1, 1, record)]);
  statements.addContents([contentValues(1, 1, record)]);
  const kept = db.prepare("SELECT length(payload) AS sent, length(received_payload) AS received FROM content").get();
  expect(kept).toMatchObject({ sent: payloads[0], received: payloads[1] });
  expect(recordOf(statements.stored(1)!, ROUTE.routeId, ROUTE.bindingId)).toEqual(record);
  db.close();
});
