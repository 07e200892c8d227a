import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type OutboxRecord, type OutboxStore, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { RouteOutbox } from "../../src/outbox/route-outbox.ts";
import { Failures } from "../../src/route/failures.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { HeldSender } from "../support/held-sender.ts";
import { bound } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";

/** The outbox of a route with two bindings, `one` and `other`, on a store in memory that holds a record for the other. */
async function routeOutbox(change = (memory: OutboxStore): OutboxStore => memory) {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const outbox = change(memory);
  const bindings = ["one", "other"];
  const { parts: built } = partsOf({ clock, outbox, deliveryMode: "shared_outbox", dispatchMode: "fan_out", bindings });
  const [route] = built.routes.values();
  if (route === undefined) throw new Error("the bridge has no route");
  const sender = new HeldSender();
  const targets = new Map([...route.targets].map(([id, target]) => [id, { ...target, sender }]));
  const parts = { ...route, targets };
  const record: OutboxRecord = {
    id: "record",
    routeId: "r",
    bindingId: "other",
    address: "other",
    envelope: envelopeOf(),
    payloadDigest: "d",
    createdAt: clock.now(),
  };
  await memory.persist([record], bound());
  const own = new RouteOutbox({ parts, failures: new Failures(parts) });
  const stop = new AbortController();
  const run = () => Promise.all([...own.drains.values()].map((drain) => drain.run(stop.signal)));
  return { clock, memory, own, record, sender, stop, run };
}

test("when the store hands out nothing for one binding, the route says so, whichever it is, and of the store's fault nothing besides", async () => {
  const { clock, own, stop, run } = await routeOutbox((memory) => ({
    ...memory,
    claim: async ({ bindingId }) => {
      if (bindingId === "other") throw new BridgeError("UNAVAILABLE", "disk full");
      return [];
    },
    health: () => ({ setAside: [], fault: "o.db: the disk is full" }),
  }));
  expect([own.obstacle, own.full]).toEqual([undefined, "the outbox store takes nothing: o.db: the disk is full"]);
  const running = run();
  await clock.until(() => own.obstacle !== undefined);
  expect([own.obstacle, own.full]).toEqual([
    "the outbox store hands out no records: UNAVAILABLE, disk full",
    undefined,
  ]);
  stop.abort();
  await running;
});

test("a store that tells nothing of its health is not taken for one that takes nothing", async () => {
  const { own } = await routeOutbox((memory) => {
    delete memory.health;
    return memory;
  });
  expect(own.full).toBeUndefined();
});

test("whoever waits for a record that an operator moves to the DLQ is told at once what has become of it", async () => {
  const { own, record, clock } = await routeOutbox((memory) => ({ ...memory, status: async () => "pending" }));
  const records = [{ disposition: "persisted", bindingId: "other", recordId: record.id }] as const;
  const handed = { disposition: "persisted", failedBindings: [], records } as const;
  let answer: unknown;
  void own.drained(record.envelope, handed, undefined, bound()).then((told) => (answer = told));
  await clock.advance(0);
  expect(answer).toBeUndefined();
  own.left(record, "dead_lettered", false);
  await clock.advance(0);
  expect(answer).toMatchObject({ disposition: "dead_lettered", failedBindings: ["other"] });
});

test("a route that is over gives up what it sends: it goes back into the outbox uncharged, and the drains end", async () => {
  const { own, clock, sender, memory, run } = await routeOutbox();
  const running = run();
  await clock.until(() => sender.sends.length === 1);
  own[Symbol.dispose]();
  await clock.advance(1_000);
  await running;
  expect(sender.sends[0]?.signal.aborted).toBe(true);
  const lent = { routeId: "r", bindingId: "other", limit: 1, loanMs: 1_000 };
  expect(await memory.claim(lent, bound())).toMatchObject([{ attempts: 0, record: { id: "record" } }]);
});
