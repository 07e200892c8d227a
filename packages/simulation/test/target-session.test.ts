import type { Envelope } from "@bridge/ports";
import { expect, test } from "vitest";
import { draw, type Plan } from "../src/index.ts";
import { TargetSession } from "../src/model/target-session.ts";
import { worldOf } from "../src/run/world.ts";

const signal = new AbortController().signal;

async function connected(mood: Partial<Plan["target"]> = {}) {
  const { outbox: _, leases: __, ...drawn } = draw(1);
  const plan = { ...drawn, target: { latencyMs: 10, refuses: 0, loses: 0, silent: 0, slow: 0, ...mood }, messages: [] };
  const world = worldOf({ ...plan, bindings: ["out"], messages: [{ number: 0, at: 0 }] }, false);
  world.auditor.source.published(0);
  const owner = { name: "one", alive: true, pending: 0 };
  world.auditor.source.delivers(owner, 0, signal);
  const session = new TargetSession({ ...world, owner, exclusive: false });
  const connecting = session.connect(signal);
  await world.time.pass(100);
  const sender = session.sender();
  const envelope = { payload: new TextEncoder().encode("0") } as Envelope;
  const dispose = (): PromiseLike<void> => sender[Symbol.asyncDispose]();
  const send = (): Promise<void> => {
    const sending = sender.send(envelope, "out", signal);
    sending.catch(() => {});
    return sending;
  };
  return { ...world, session, connection: await connecting, send, dispose };
}

test("what is sent over a connection that the target has dropped arrives nowhere, and fails when that is noticed", async () => {
  const { time, session, connection, send, auditor } = await connected();
  session.cut(5_000);
  const sending = send();
  await time.pass(10_000);
  await expect(sending).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  expect((await connection.closed)?.code).toBe("CONNECTION_LOST");
  expect([auditor.targets.heard, auditor.violations]).toEqual([0, []]);
});

test.each([
  ["which has moods", 1, true, true],
  ["whose moods are over", 1, false, false],
  ["without moods", 0, true, false],
])("a target %s says when its mood last acted, and a fault is none", async (_, refuses, moody, acts) => {
  const { time, target, send } = await connected({ refuses });
  target.moody = moody;
  target.down = "refuses";
  void send();
  await time.pass(200);
  expect(target.moodyAt).toBe(-Infinity);
  target.down = undefined;
  void send();
  await time.pass(1_000);
  expect([target.moodyAt > 200, target.moodyAt < 1_000]).toEqual([acts, true]);
});

test("a send that waits fails when its sender is disposed, and the session goes on", async () => {
  const { send, dispose, connection } = await connected();
  const sending = send();
  await dispose();
  await expect(sending).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  const still = await Promise.race([connection.closed.then(() => false), Promise.resolve(true)]);
  expect(still).toBe(true);
});

test("whoever sends over a session that is known to be lost is told of", async () => {
  const { time, session, send, auditor } = await connected();
  const sending = send();
  await time.pass(1_000);
  await sending;
  session.cut(0);
  await time.pass(2_000);
  await expect(send()).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  expect([auditor.targets.heard, auditor.violations]).toEqual([
    1,
    ["message 0 was sent over a session that is not connected"],
  ]);
});

test("of an exclusive session whoever connects takes the place of whoever is connected, which hears of it", async () => {
  const world = worldOf({ ...draw(1), target: { latencyMs: 1, refuses: 0, loses: 0, silent: 0, slow: 0 } }, false);
  const open = async (name: string) => {
    const owner = { name, alive: true, pending: 0 };
    const session = new TargetSession({ ...world, owner, exclusive: true });
    world.auditor.lease.holder = () => name;
    const connecting = session.connect(new AbortController().signal);
    await world.time.pass(world.time.now + 10);
    return connecting;
  };
  const [first, second] = [await open("one"), await open("other")];
  let ended = 0;
  for (const { closed } of [first, second]) void closed.then(() => ended++);
  await world.time.pass(world.time.now + 1_000);
  expect([ended, await first.closed, world.auditor.violations]).toEqual([
    1,
    expect.objectContaining({ code: "CONNECTION_LOST" }),
    [],
  ]);
});
