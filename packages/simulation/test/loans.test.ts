import type { Delivery } from "@bridge/ports";
import { expect, test } from "vitest";
import { draw } from "../src/index.ts";
import { BrokerSession } from "../src/model/broker-session.ts";
import type { Plan } from "../src/plan/plan.ts";
import { worldOf } from "../src/run/world.ts";

const LOAN_MS = 9_000;

/** A client of a broker that lends, and all that came to it. */
async function lent() {
  const drawn = draw(1);
  const habits = { latencyMs: 1, confirms: true, releasable: false, counts: true, loanMs: LOAN_MS };
  const plan: Plan = { ...drawn, broker: habits };
  const { broker, time } = worldOf(plan, false);
  const owner = { name: "client", alive: true, pending: 0 };
  const session = new BrokerSession({ broker, owner, habits, window: 10, exclusive: false });
  const came: Delivery[] = [];
  session.subscriptions.add("in");
  session.taker = (delivery) => came.push(delivery);
  const connect = async (): Promise<void> => {
    const connecting = session.connect(new AbortController().signal);
    await time.pass(time.now + 100);
    const connection = await connecting;
    void connection.reconcile(new AbortController().signal);
    await time.pass(time.now + 100);
  };
  await connect();
  return { broker, time, owner, session, came, connect };
}

test("a message stays lent as long as its client says that it works on it", async () => {
  const { broker, time, came } = await lent();
  broker.publish(0);
  await time.pass(time.now + 20 * LOAN_MS);
  expect(came.map(({ receiveCount, signal }) => [receiveCount, signal?.aborted])).toEqual([[1, false]]);
});

test("what a lost connection leaves comes again when its loan is over, and no sooner", async () => {
  const { broker, time, session, came, connect } = await lent();
  broker.publish(0);
  await time.pass(time.now + 100);
  session.cut(0);
  await connect();
  await time.pass(time.now + LOAN_MS / 2);
  expect([came.length, broker.empty]).toEqual([1, false]);
  await time.pass(time.now + LOAN_MS);
  expect(came.map(({ receiveCount, signal }) => [receiveCount, signal?.aborted])).toEqual([
    [1, true],
    [2, false],
  ]);
});

test("a client that stood still has lost its loans, and a settlement of them is refused", async () => {
  const { broker, time, owner, came } = await lent();
  broker.publish(0);
  await time.pass(time.now + 100);
  time.freeze(owner);
  await time.pass(time.now + 2 * LOAN_MS);
  time.thaw(owner);
  const settled = Promise.resolve(came[0]?.settle({ kind: "release", delayMs: 0 }));
  settled.catch(() => {});
  await time.pass(time.now + 100);
  await expect(settled).rejects.toMatchObject({ code: "TIMEOUT" });
  expect(came.length).toBeGreaterThan(1);
});
