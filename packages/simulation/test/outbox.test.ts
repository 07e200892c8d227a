import { type OutboxRecord, type OutboxStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { draw, type Plan } from "../src/index.ts";
import type { Outbox } from "../src/model/outbox.ts";
import { worldOf } from "../src/run/world.ts";
import type { Owner } from "../src/time/virtual-time.ts";

const signal = new AbortController().signal;
const place = { routeId: "route", bindingId: "out-0" };

function record(number: number): OutboxRecord {
  const envelope = {
    id: `m-${number}`,
    sourceId: "in",
    subject: "simulated",
    contentType: "",
    headers: {},
    payload: new TextEncoder().encode(String(number)),
    correlationId: `m-${number}`,
    receivedAt: 0,
  };
  return { ...place, id: `record ${number}`, address: "out-0", envelope, payloadDigest: "", createdAt: 0 };
}

async function opened(shared: boolean, maxRecords = 100) {
  const messages = [0, 1, 2, 3].map((number) => ({ number, at: 0 }));
  const plan: Plan = { ...draw(1), bindings: ["out-0"], messages, outbox: { latencyMs: 10, shared, maxRecords } };
  const world = worldOf(plan, false);
  /** Lets time pass until there is an answer. */
  async function answer<Answer>(asked: Promise<Answer>): Promise<Answer> {
    asked.catch(() => {});
    await world.time.pass(world.time.now + 1_000);
    return asked;
  }
  let former: OutboxStore | undefined;
  /** By another process, when the one before has closed it. */
  const open = async (outbox: Outbox): Promise<OutboxStore> => {
    await former?.[Symbol.asyncDispose]();
    return (former = await answer(outbox.open({ alive: true, pending: 0 }, signal)));
  };
  return { ...world, answer, open, store: await open(world.outbox) };
}

function aProcess(): Owner {
  return { alive: true, pending: 0 };
}

test("a file that is opened again has what was persisted and how it ended, and nothing on loan", async () => {
  const { outbox, store, answer, open, auditor } = await opened(false);
  await answer(store.persist([record(0), record(1), record(2)], signal));
  const [first] = await answer(store.claim({ ...place, limit: 2, loanMs: 60_000 }, signal));
  auditor.targets.accepts(0, "out-0");
  const ends = [{ id: "record 0", token: first?.token ?? "", outcome: { kind: "done" } as const }];
  expect(await answer(store.finish(ends, signal))).toEqual([true]);
  const again = await open(outbox);
  await expect(answer(store.status("record 1", signal))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await answer(again.status("record 0", signal))).toBe("done");
  const claims = await answer(again.claim({ ...place, limit: 9, loanMs: 60_000 }, signal));
  expect(claims.map((claim) => claim.record.id)).toEqual(["record 1", "record 2"]);
});

test("a file that is opened again does not remember the end of a record that it had forgotten", async () => {
  const { outbox, store, answer, open, auditor } = await opened(false, 3);
  const enter = (entered: OutboxRecord) => answer(store.persist([entered], signal));
  async function end(number: number, id = `record ${number}`): Promise<void> {
    const claim = await answer(store.claimOne(id, 60_000, signal));
    auditor.targets.accepts(number, "out-0");
    const ends = [{ id, token: claim?.token ?? "", outcome: { kind: "done" } as const }];
    expect(await answer(store.finish(ends, signal))).toEqual([true]);
  }
  await enter(record(0));
  await enter(record(1));
  await end(1);
  await enter(record(2));
  await end(2);
  await enter(record(3));
  const comesAgain = { ...record(1), id: "record 1, again" };
  expect(await enter(comesAgain)).toEqual([{ kind: "persisted" }]);
  await end(0);
  const again = await open(outbox);
  expect(await answer(again.status(comesAgain.id, signal))).toBe("pending");
});

test("a file is not taken by openings that were given up while the disk hung, whenever the disk comes to them", async () => {
  const { outbox, answer, time, store: former } = await opened(false);
  await former[Symbol.asyncDispose]();
  outbox.service.down = "silent";
  const patience = new AbortController();
  const owner = { alive: true, pending: 0 };
  const givenUp = Array.from({ length: 9 }, () => outbox.open(owner, patience.signal));
  const told = Promise.allSettled(givenUp);
  await time.pass(time.now + 1_000);
  patience.abort(new Error("given up"));
  expect((await told).map(({ status }) => status)).toEqual(givenUp.map(() => "rejected"));
  const opening = outbox.open(owner, signal);
  outbox.service.down = undefined;
  const store = await answer(opening);
  expect(await answer(store.persist([record(0)], signal))).toEqual([{ kind: "persisted" }]);
});

test("a file that a process has open is in use for others until that closes it or dies, also while it stands still", async () => {
  const { outbox, answer, store } = await opened(false);
  const [first, second, third] = [aProcess(), aProcess(), aProcess()];
  const openedBy = (owner: Owner) => answer(outbox.open(owner, signal));
  await expect(openedBy(first)).rejects.toThrow("in use");
  await store[Symbol.asyncDispose]();
  await openedBy(second);
  second.frozen = [];
  await expect(openedBy(third)).rejects.toThrow("in use");
  expect([first, second, third].map((owner) => outbox.isKeptFrom(owner))).toEqual([true, false, true]);
  second.alive = false;
  await openedBy(first);
});

test("a record is on loan to whoever claimed it, until it has ended or the time is up", async () => {
  const { outbox, answer, time } = await opened(true);
  const owner = { alive: true, pending: 0 };
  const store = await answer(outbox.open(owner, signal));
  await answer(store.persist([record(0), record(1)], signal));
  expect(outbox.lends(owner, 0, "out-0")).toBe(false);
  const claims = await answer(store.claim({ ...place, limit: 2, loanMs: 60_000 }, signal));
  expect([0, 1].map((number) => outbox.lends(owner, number, "out-0"))).toEqual([true, true]);
  expect(outbox.lends({ alive: true, pending: 0 }, 0, "out-0")).toBe(false);
  const retry = { kind: "retry", attempts: 1, delayMs: 0 } as const;
  await answer(store.finish([{ id: "record 0", token: claims[0]?.token ?? "", outcome: retry }], signal));
  expect([0, 1].map((number) => outbox.lends(owner, number, "out-0"))).toEqual([false, true]);
  await time.pass(time.now + 60_000);
  expect(outbox.lends(owner, 1, "out-0")).toBe(false);
});

test("a dead letter that is redriven while a redrive of it is on its way is told of", async () => {
  const { store, answer, auditor } = await opened(true);
  for (const id of ["first", "second"])
    await answer(
      store.persist([{ ...record(0), id, entryId: "entry", envelope: { ...record(0).envelope, id } }], signal),
    );
  expect(auditor.violations).toEqual(["message 0 is redriven to out-0 while a redrive of it is on its way"]);
});

test("a dead letter that was edited may be redriven twice by two who have asked in the same moment, and by nobody who has not asked", async () => {
  const { outbox, answer, auditor } = await opened(true);
  const openedBy = (name: string) => answer(outbox.open({ name, alive: true, pending: 0 }, signal));
  const first = await openedBy("first");
  const second = await openedBy("second");
  const redrive = (store: OutboxStore, id: string) =>
    answer(store.persist([{ ...record(0), id, payloadDigest: id, identity: id, entryId: "entry" }], signal));
  for (const store of [first, second]) expect(await answer(store.redriving("entry", signal))).toBeUndefined();
  await redrive(first, "one");
  await redrive(second, "another");
  expect(auditor.violations).toEqual([]);
  expect(await answer(first.redriving("entry", signal))).toBe("one");
  await redrive(first, "a third");
  expect(auditor.violations[0]).toBe("message 0 is redriven to out-0 while a redrive of it is on its way");
});

test("a server that loses its answers has done what it was asked, one that crashes has not, and a disk that hangs does it later", async () => {
  const server = await opened(true);
  server.outbox.service.down = "loses";
  const lost = new AbortController();
  const persisting = server.store.persist([record(0)], lost.signal);
  persisting.catch(() => {});
  await server.time.pass(server.time.now + 100);
  expect(server.outbox.empty).toBe(false);
  server.outbox.service.down = undefined;
  const crashing = server.store.persist([record(1)], signal);
  crashing.catch(() => {});
  for (let ms = 0; ms < 20; ms++) {
    server.outbox.service.crash();
    await server.time.pass(server.time.now + 1);
  }
  await server.time.pass(server.time.now + 100);
  await expect(crashing).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  expect(await server.answer(server.store.list({}, { limit: 9, offset: 0 }, signal))).toHaveLength(1);

  const file = await opened(false);
  file.outbox.service.down = "silent";
  const hanging = file.store.persist([record(0)], signal);
  await file.time.pass(file.time.now + 1_000);
  expect(file.outbox.empty).toBe(true);
  file.outbox.service.down = undefined;
  // It is on its way, whether or not somebody waits for it.
  expect(file.outbox.empty).toBe(false);
  expect(await file.answer(hanging)).toEqual([{ kind: "persisted" }]);
});
