import { BridgeError, type DlqStore, type OutboxBacklog, type OutboxStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { leftBehind, leftBehindByStandstill } from "../../src/supervisor/left-behind.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

const { config: from } = memoryBridge({ deliveryMode: "shared_outbox" });
const change = { from, to: { ...from, routes: [] }, dlq: undefined };
const line = (depth: number, oldestCreatedAt: number): OutboxBacklog => ({
  routeId: "r",
  bindingId: "out",
  depth,
  oldestCreatedAt,
  blockedKeys: 0,
});

/** An outbox that gives these answers one after another, and then the last of them; `undefined` is that it refuses. */
function answering(...answers: (readonly OutboxBacklog[] | undefined)[]) {
  let asked = 0;
  const backlog: OutboxStore["backlog"] = async () => {
    const answer = answers[Math.min(asked++, answers.length - 1)];
    if (answer === undefined) throw new BridgeError("UNAVAILABLE", "away");
    return answer;
  };
  return { outbox: { backlog } as OutboxStore, asked: () => asked };
}

test("a binding of which nothing waits any more leaves nothing behind, also when its store still has a line for it", async () => {
  const { outbox } = answering([line(0, 0), { ...line(2, 0), bindingId: "other route's", routeId: "other" }]);
  expect(await leftBehind({ ...change, clock: new FakeClock(), outbox }, bound())).toBeUndefined();
});

test("a store that cannot tell stands in the way at once: no time shows that nothing is left there", async () => {
  const clock = new FakeClock();
  for (const { outbox, asked } of [answering(undefined), { outbox: undefined, asked: () => 1 }]) {
    const stranding = await leftBehindByStandstill({ ...change, clock, outbox }, bound());
    expect([stranding?.stranded, asked()]).toStrictEqual([[{ store: "outbox" }], 1]);
  }
});

test("a store that cannot tell any more, while what waited is looked at, says nothing of it", async () => {
  const clock = new FakeClock();
  const { outbox } = answering([line(1, 0)], undefined);
  const told = leftBehindByStandstill({ ...change, clock, outbox }, bound());
  await clock.advance(5_000);
  expect((await told)?.stranded).toEqual([{ store: "outbox" }]);
});

test.each([
  { waits: "all that waited has gone", after: line(3, 2_000_000), stranded: undefined },
  { waits: "what came first is still there", after: line(3, 1_000_000), stranded: 3 },
])("of records on their way, $waits within a second", async ({ after, stranded }) => {
  const clock = new FakeClock();
  const { outbox } = answering([line(1, 0)], [after]);
  const told = leftBehindByStandstill({ ...change, clock, outbox }, bound());
  await clock.advance(stranded === undefined ? 100 : 1_000);
  expect((await told)?.stranded[0]?.waiting).toBe(stranded);
});

test("one binding whose records go on their way says nothing of another, whose first one is still there", async () => {
  const clock = new FakeClock();
  const { config: both } = memoryBridge({
    deliveryMode: "shared_outbox",
    dispatchMode: "fan_out",
    bindings: ["out", "stuck"],
  });
  const stuck = { ...line(1, 0), bindingId: "stuck" };
  const { outbox } = answering([line(1, 0), stuck], [line(1, 2_000_000), stuck]);
  const removed = { from: both, to: { ...both, routes: [] }, dlq: undefined };
  const told = leftBehindByStandstill({ ...removed, clock, outbox }, bound());
  await clock.advance(1_000);
  expect((await told)?.stranded.map(({ bindingId }) => bindingId)).toEqual(["out", "stuck"]);
});

test.each<[string, (cap: number) => Promise<number>, unknown]>([
  ["are counted", async () => 3, [{ store: "dlq", waiting: 3 }]],
  ["are none", async () => 0, undefined],
  ["are more than are counted", async (cap) => cap, [{ store: "dlq", waiting: 1_000, capped: true }]],
  ["cannot be counted", () => Promise.reject(new BridgeError("UNAVAILABLE", "away")), [{ store: "dlq" }]],
])("of a DLQ that is left it is told when its dead letters %s", async (_, count, stranded) => {
  const options = { from, to: { ...from, stores: { outbox: from.stores.outbox } }, clock: new FakeClock() };
  const dlq = { count } as unknown as DlqStore;
  expect((await leftBehind({ ...options, outbox: undefined, dlq }, bound()))?.stranded).toStrictEqual(stranded);
});
