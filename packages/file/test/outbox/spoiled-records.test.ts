import { SuiteClock } from "@bridge/conformance";
import { silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import type { FileDatabase } from "../../src/database/file-database.ts";
import type { Lane } from "../../src/outbox/lane.ts";
import type { OutboxStatements } from "../../src/outbox/outbox-statements.ts";
import { SpoiledRecords } from "../../src/outbox/spoiled-records.ts";

function found() {
  const lines: string[] = [];
  const records = new SpoiledRecords(new SuiteClock(0), { ...silentLogger, error: (line) => void lines.push(line) });
  const lane = { routeId: "r", bindingId: "b", depth: 2 } as unknown as Lane;
  records.found({ number: 1, id: "a" }, lane);
  return { records, lane, lines };
}

test("a record is found once, whoever finds it, until the file is opened anew", () => {
  const { records, lane, lines } = found();
  records.found({ number: 1, id: "a" }, lane);
  expect([records.health(), lines.length]).toEqual([{ spoiled: 1 }, 1]);
  records.reset();
  expect(records.health()).toEqual({});
  records.found({ number: 1, id: "a" }, lane);
  expect([records.health(), lines.length]).toEqual([{ spoiled: 1 }, 2]);
});

test("what is put aside makes room, so that it can be written into a file that is full", () => {
  const { records } = found();
  const writes: { readonly frees?: boolean; readonly bytes: number }[] = [];
  const file = { write: (write: (typeof writes)[number]) => (writes.push(write), Promise.resolve()) };
  expect(records.acknowledge(file as unknown as FileDatabase<OutboxStatements>)).toEqual(["a"]);
  expect(writes).toMatchObject([{ frees: true, bytes: 0 }]);
});
