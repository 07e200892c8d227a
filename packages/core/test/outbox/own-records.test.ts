import type { OutboxStatus } from "@bridge/ports";
import { openMemoryOutbox } from "@bridge/outbox-memory";
import { systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { Accounts } from "../../src/accounting/accounts.ts";
import { OutboxDepth } from "../../src/outbox/outbox-depth.ts";
import { followOwnRecords } from "../../src/outbox/own-records.ts";
import { FakeClock } from "../support/fake-clock.ts";

test.each([
  { held: true, name: "we have it on loan by then, so that we see the end ourselves", abandoned: 0 },
  { held: false, name: "it was another's", abandoned: 1 },
])("a record of ours that has ended when the store answers is abandoned only if $name", async (given) => {
  const clock = new FakeClock();
  const answer = Promise.withResolvers<OutboxStatus>();
  let asked = 0;
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const store = {
    ...memory,
    shared: true,
    status() {
      asked++;
      return answer.promise;
    },
  };
  const account = new Accounts().leg("r", "out");
  account.open("received");
  account.persist("record");
  const held = new Set<string>();
  const depth = new OutboxDepth(1);
  depth.found(1);
  const stop = new AbortController();
  await using _ = followOwnRecords({ store: () => store, account, depth, held, clock }, stop.signal);
  await clock.until(() => asked === 1, 500);
  if (given.held) held.add("record");
  answer.resolve("done");
  await clock.advance(0);
  expect(account.read().dispositions.abandoned).toBe(given.abandoned);
  expect(depth.depth).toBe(1 - given.abandoned);
  stop.abort();
});
