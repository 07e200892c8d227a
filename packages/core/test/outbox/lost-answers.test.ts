import { type OutboxStatus, silentLogger, systemRandom } from "@bridge/ports";
import { openMemoryOutbox } from "@bridge/memory";
import { expect, test } from "vitest";
import { Accounts } from "../../src/accounting/accounts.ts";
import { OutboxDepth } from "../../src/outbox/outbox-depth.ts";
import { followOwnRecords } from "../../src/outbox/own-records.ts";
import { RecordOutcomes } from "../../src/outbox/record-outcomes.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import type { FakeClock } from "../support/fake-clock.ts";

/** A shared store that has the record as done, and whose first answer gets lost. */
function losing(clock: FakeClock) {
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  let asked = 0;
  return {
    ...memory,
    shared: true,
    status(): Promise<OutboxStatus> {
      return asked++ === 0 ? new Promise(() => {}) : Promise.resolve("done");
    },
  };
}

test("a record that has ended elsewhere leaves the books although a store's answer was lost", async () => {
  const clock = new BoundingClock();
  const store = losing(clock);
  const account = new Accounts().leg("r", "out");
  account.open("received");
  account.persist("record", true, true);
  const depth = new OutboxDepth(1);
  depth.found(1);
  const stop = new AbortController();
  const held = new Set<string>();
  const options = { store: () => store, account, depth, held, clock, logger: silentLogger };
  await using _ = followOwnRecords(options, stop.signal);
  await clock.until(() => account.own.size === 0, 500, 200);
  expect(depth.depth).toBe(0);
  stop.abort();
});

test("whoever waits for a record hears how it ended elsewhere although a store's answer was lost", async () => {
  const clock = new BoundingClock();
  const stop = new AbortController();
  let ended: unknown;
  void new RecordOutcomes().of("record", losing(clock), clock, stop.signal).then((outcome) => (ended = outcome));
  await clock.until(() => ended !== undefined, 500, 200);
  expect(ended).toEqual({ disposition: "delivered" });
});
