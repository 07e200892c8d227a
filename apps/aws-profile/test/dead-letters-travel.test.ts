import { deadLetterLines, travel } from "@bridge/tooling/dead-letter-lines";
import { expect, test } from "vitest";
import { ADMIN_KEY, INSIDE, Site } from "./support/site.ts";
import { tablesFor } from "./support/tables.ts";

const ENTRIES = 100;

test("operators 4: export, purge, import: the same entries on a DLQ on DynamoDB", async () => {
  await using site = await Site.open();
  await using _ = await tablesFor(site);
  site.write("bridge.yaml", `${INSIDE}stores: {dlq: {type: dynamodb, options: {table_name: dead-letters}}}\n`);
  await using maker = site.run(site.bootstrap(), ["-create-tables"]);
  expect(await maker.ended).toBe(0);
  await using instance = site.run(site.bootstrap());
  await instance.logged("bridge started");
  const { imports, before, after } = await travel(await instance.url("admin"), ADMIN_KEY, deadLetterLines(ENTRIES));
  expect(imports).toEqual([
    { imported: ENTRIES, present: 0, failed: 0 },
    { imported: ENTRIES, present: 0, failed: 0 },
    { imported: 0, present: ENTRIES, failed: 0 },
  ]);
  expect(before.split("\n")).toHaveLength(ENTRIES + 2);
  expect(after).toBe(before);
});
