import { DatabaseSync } from "node:sqlite";
import type { OutboxStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { Lane as FileLane } from "../../src/outbox/lane.ts";
import { OUTBOX_FILE } from "../../src/outbox/outbox-file-kind.ts";
import { outboxStatements } from "../../src/outbox/outbox-statements.ts";
import { end, outboxRecord } from "./support/records.ts";
import { openScratchOutbox, survivorOf } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const [BUSY, REFUSED, LATER] = ["busy", "refused", "later"].map((name) => ({
  routeId: name,
  bindingId: `to-${name}`,
})) as [Lane, Lane, Lane];

interface Lane {
  readonly routeId: string;
  readonly bindingId: string;
}

const claim = (store: OutboxStore, lane: Lane) => store.claim({ ...lane, limit: 100, loanMs: 60_000 }, signal);
const claimed = async (store: OutboxStore, lane: Lane) =>
  (await claim(store, lane)).map(({ record }) => [record.routeId, record.id]);

test("a route whose first record found no room, and that begins in another process, gets its own records and no others", async () => {
  const full = openScratchOutbox({ maxBytes: 256 * 1024 });
  const fill = async (): Promise<void> => {
    for (let n = 0; ; n++) await full.persist([outboxRecord(`r${n}`, BUSY, 30_000)], signal);
  };
  await expect(fill()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(full.persist([outboxRecord("no room", REFUSED)], signal)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await full.finish(
    (await claim(full, BUSY)).map((one) => end(one, { kind: "done" })),
    signal,
  );
  await full.persist([outboxRecord("of the later", LATER)], signal);

  const next = await survivorOf(full);
  await next.persist([outboxRecord("of the refused", REFUSED)], signal);
  expect(await claimed(next, REFUSED)).toEqual([["refused", "of the refused"]]);
  expect(await claimed(next, LATER)).toEqual([["later", "of the later"]]);

  await using last = await survivorOf(next);
  expect(await claimed(last, REFUSED)).toEqual([["refused", "of the refused"]]);
  expect(await claimed(last, LATER)).toEqual([["later", "of the later"]]);
});

test("a lane that is written again changes nothing; another one under its number is refused", () => {
  const db = new DatabaseSync(":memory:");
  for (const step of OUTBOX_FILE.migrations) db.exec(step);
  const statements = outboxStatements(db);
  const lanes = [{ lane: 1, route_id: "route", binding_id: "binding" }];
  for (let times = 0; times < 2; times++) {
    statements.addLane(new FileLane(1, "route", "binding"));
    expect(statements.lanes()).toMatchObject(lanes);
  }
  for (const [routeId, bindingId] of [
    ["other", "binding"],
    ["route", "other"],
  ] as const)
    expect(() => statements.addLane(new FileLane(1, routeId, bindingId))).toThrow(
      `the outbox has another lane 1 than that of route ${routeId}, binding ${bindingId}`,
    );
  expect(statements.lanes()).toMatchObject(lanes);
  db.close();
});
