import { type PersistResult, RESERVED } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { legIds } from "../../src/outbox/leg-ids.ts";
import type { Work } from "../../src/route/work.ts";
import { envelopeOf } from "../support/envelope.ts";
import { HastyClock } from "../support/hasty-clock.ts";
import { outage, refusal } from "../support/memory-bridge.ts";
import { wayIntoOutbox } from "../support/way-into-outbox.ts";

describe("a message that goes into the outbox", () => {
  test("is there with all that its delivery, its order and its dead letter need", async () => {
    const { clock, workOf, hand, writes, woken, depth, books } = wayIntoOutbox();
    const headers = { [RESERVED.orderingKey]: "k" };
    const work = workOf(envelopeOf({ headers }), {}, { id: "e1", failedAt: 5 });
    work.envelope = { ...work.received, payload: new TextEncoder().encode("changed") };
    const outcome = await hand(work);
    const [record] = writes[0] ?? [];
    expect(record).toMatchObject({
      routeId: "r",
      bindingId: "out",
      address: "out",
      envelope: work.envelope,
      received: work.received,
      // Of "hello".
      payloadDigest: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
      entryId: "e1",
      orderingKey: "k",
      createdAt: clock.now(),
    });
    expect(record?.identity).toBeDefined();
    expect(outcome).toMatchObject({
      disposition: "persisted",
      failedBindings: [],
      records: [{ disposition: "persisted", bindingId: "out", recordId: record?.id }],
    });
    expect([woken, depth.depth, work.handedOut]).toEqual([["out"], 1, true]);
    expect(books()).toMatchObject({ received: 1, inFlight: 0, inOutbox: 1 });
  });

  test("unchanged and for the first time is kept once, and is no redrive", async () => {
    const { workOf, hand, writes } = wayIntoOutbox();
    await hand(workOf(envelopeOf()));
    expect(writes[0]?.[0]).toMatchObject({ received: undefined, entryId: undefined, orderingKey: undefined });
    expect(writes[0]?.[0]).not.toHaveProperty("identity");
  });

  test("with several legs goes there in one write", async () => {
    const { workOf, hand, writes, woken, depth } = wayIntoOutbox({ bindings: ["a", "b"] });
    await hand(workOf(envelopeOf()));
    expect(writes.map((records) => records.map(({ bindingId }) => bindingId))).toEqual([["a", "b"]]);
    expect([woken, depth.depth]).toEqual([["a", "b"], 2]);
  });

  test("and is there already is a duplicate, which takes no room and is told under which record", async () => {
    const { route, workOf, hand, depth, woken, books } = wayIntoOutbox();
    const first = await hand(workOf(envelopeOf()));
    const second = await hand(workOf(envelopeOf()));
    expect(second).toMatchObject({ disposition: "duplicate", records: [{ recordId: first.records?.[0]?.recordId }] });
    expect([depth.depth, woken]).toEqual([1, ["out"]]);
    expect(books()).toMatchObject({ received: 2, inFlight: 0, inOutbox: 1, dispositions: { duplicate: 1 } });
    expect(route.recent.legs.find("m1", 5)).toMatchObject([{ bindingId: "out", outcome: "duplicate" }]);
  });

  test("and has another payload than what is there under its id is an ID_CONFLICT, by the policy", async () => {
    const { route, workOf, hand, depth, books } = wayIntoOutbox();
    await hand(workOf(envelopeOf()));
    const outcome = await hand(workOf(envelopeOf({ payload: new Uint8Array([1]) })));
    expect(outcome).toMatchObject({
      disposition: "dropped",
      error: { code: "ID_CONFLICT", message: "another payload has been accepted under this message id" },
      failedBindings: ["out"],
    });
    expect(depth.depth).toBe(1);
    expect(books()).toMatchObject({ inFlight: 0, inOutbox: 1, dispositions: { dropped: 1 } });
    expect(route.recent.legs.find("m1", 5)).toMatchObject([{ bindingId: "out", outcome: "dropped" }]);
  });

  test("or is refused to a caller who waits, of which the policy hears nothing", async () => {
    const { workOf, hand, books } = wayIntoOutbox();
    await hand(workOf(envelopeOf()));
    const outcome = await hand(workOf(envelopeOf({ payload: new Uint8Array([1]) }), { refusable: true }));
    expect(outcome).toMatchObject({ disposition: "released", error: { code: "ID_CONFLICT" } });
    expect(outcome.delayMs).toBeUndefined();
    expect(books()).toMatchObject({ inFlight: 0, dispositions: { released: 1, dropped: 0 } });
  });
});

test.each<[string, readonly PersistResult[], string]>([
  ["none of it is kept", [{ kind: "conflict" }, { kind: "refused", error: refusal }], "released"],
  ["another leg was persisted", [{ kind: "persisted" }, { kind: "conflict" }], "dropped"],
  ["another leg is there already", [{ kind: "duplicate", id: "1", status: "done" }, { kind: "conflict" }], "dropped"],
])("a caller who waits is refused only a message of which nothing is kept: %s", async (_, results, disposition) => {
  const { workOf, hand } = wayIntoOutbox({ bindings: ["a", "b"], write: () => Promise.resolve(results) });
  expect(await hand(workOf(envelopeOf(), { refusable: true }))).toMatchObject({ disposition });
});

test("a caller who waits is not refused a message of which a leg has failed before", async () => {
  const { route, workOf, hand } = wayIntoOutbox({
    bindings: ["a", "b"],
    write: () => Promise.resolve([{ kind: "conflict" }]),
  });
  const [a] = route.targets.values();
  Object.assign(a ?? {}, {
    address() {
      throw new Error("no such device");
    },
  });
  expect(await hand(workOf(envelopeOf(), { refusable: true }))).toMatchObject({
    disposition: "dropped",
    failedBindings: ["a", "b"],
  });
});

test("a message that a caller waits for, and that is given up before it is written, is abandoned", async () => {
  const { clock, workOf, hand } = wayIntoOutbox({ write: () => Promise.reject(outage) });
  const work = workOf(envelopeOf(), { refusable: true });
  const handed = hand(work);
  await clock.advance(0);
  work.cancel();
  expect(await handed).toMatchObject({ disposition: "abandoned", failedBindings: ["out"] });
});

test("the records of a redrive with several legs know of each other; others have ids of their own", async () => {
  const idsOf = async (bindings: readonly string[], entry?: Work["entry"]) => {
    const { workOf, hand, writes } = wayIntoOutbox({ bindings });
    await hand(workOf(envelopeOf(), {}, entry));
    return writes[0]?.map(({ id }) => id);
  };
  const entry = { id: "e1", failedAt: 5 };
  expect(await idsOf(["a", "b"], entry)).toEqual(legIds("record-0", 2));
  expect(await idsOf(["a"], entry)).toEqual(["record-0"]);
  expect(await idsOf(["a", "b"])).toEqual(["record-0", "record-1"]);
});

describe("a write that fails", () => {
  test("is tried again with backoff; meanwhile the outbox takes nothing, says why, and holds no room for it", async () => {
    const { clock, route, outbox, workOf, hand, writes, depth, errors, books } = wayIntoOutbox({
      write: (_, times) => (times < 3 ? Promise.reject(outage) : undefined),
    });
    const handed = hand(workOf(envelopeOf()));
    await clock.advance(0);
    expect([outbox.able, outbox.full, outbox.failure]).toEqual([false, false, outage]);
    expect([writes.length, depth.depth, route.account.outboxWriteFailures]).toEqual([1, 0, 1]);
    await clock.advance(1_000);
    expect(writes).toHaveLength(2);
    await clock.advance(1_999);
    expect([writes.length, route.account.outboxWriteFailures]).toEqual([2, 2]);
    await clock.advance(1);
    expect(await handed).toMatchObject({ disposition: "persisted" });
    expect([outbox.able, outbox.failure, depth.depth]).toEqual([true, undefined, 1]);
    expect(errors).toEqual(["outbox write failed: the message stays unsettled and is tried again"]);
    expect(books()).toMatchObject({ inFlight: 0, inOutbox: 1 });
  });

  test("whose answer was lost is no duplicate of itself", async () => {
    const { clock, store, workOf, hand, depth, woken, books, writes } = wayIntoOutbox({
      write(records, times) {
        if (times > 1) return undefined;
        return store.persist(records, new AbortController().signal).then(() => Promise.reject(outage));
      },
    });
    const handed = hand(workOf(envelopeOf()));
    await clock.advance(10_000);
    expect(await handed).toMatchObject({ disposition: "persisted", records: [{ recordId: writes[0]?.[0]?.id }] });
    expect([depth.depth, woken]).toEqual([1, ["out"]]);
    expect(books()).toMatchObject({ inFlight: 0, inOutbox: 1, dispositions: { duplicate: 0 } });
  });

  test.each([
    ["is not open", "UNAVAILABLE", "no outbox store is open"],
    ["does not answer", "TIMEOUT", "the outbox store did not answer"],
  ])("because the store %s says so", async (how, code, message) => {
    const { outbox, open, stop, workOf, hand } = wayIntoOutbox({
      clock: new HastyClock(),
      write: () => new Promise(() => {}),
    });
    if (how === "is not open") open.store = undefined;
    const work = workOf(envelopeOf());
    const handed = hand(work);
    for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate);
    expect(outbox.failure).toMatchObject({ code, message });
    work.cancel();
    stop.abort(new Error("stopped"));
    expect(await handed).toMatchObject({ disposition: "abandoned" });
  });

  test("and is given up is abandoned, and others are not held up by it", async () => {
    const { clock, route, outbox, workOf, hand, depth, books } = wayIntoOutbox({
      write: (_, times) => (times === 1 ? Promise.reject(outage) : undefined),
    });
    const work = workOf(envelopeOf());
    const handed = hand(work);
    await clock.advance(0);
    work.cancel();
    expect(await handed).toMatchObject({ disposition: "abandoned", failedBindings: ["out"] });
    expect([outbox.able, outbox.failure, depth.depth]).toEqual([true, undefined, 0]);
    expect(books()).toMatchObject({ inFlight: 0, inOutbox: 0, dispositions: { abandoned: 1 } });
    expect(route.recent.legs.find("m1", 5)).toMatchObject([{ outcome: "abandoned" }]);
  });
});

describe("an outbox that is full", () => {
  test("makes messages wait until there is room again, which is no failure", async () => {
    const { clock, route, outbox, workOf, hand, writes, depth } = wayIntoOutbox({ max: 1 });
    await hand(workOf(envelopeOf()));
    expect([outbox.able, outbox.full, outbox.failure]).toEqual([false, true, undefined]);
    const work = workOf(envelopeOf({ id: "m2" }));
    const handed = hand(work);
    await clock.advance(60_000);
    expect([writes.length, work.handedOut, route.account.outboxWriteFailures]).toEqual([1, false, 0]);
    expect([outbox.able, outbox.full, outbox.failure]).toEqual([false, true, undefined]);
    depth.give(1);
    expect([outbox.able, outbox.full]).toEqual([false, true]);
    expect(await handed).toMatchObject({ disposition: "persisted" });
    depth.give(1);
    expect([outbox.able, outbox.full]).toEqual([true, false]);
  });

  test("keeps nobody who is given up", async () => {
    const { clock, outbox, workOf, hand, writes, depth } = wayIntoOutbox({ max: 1 });
    await hand(workOf(envelopeOf()));
    const work = workOf(envelopeOf({ id: "m2" }));
    const handed = hand(work);
    await clock.advance(0);
    work.cancel();
    expect(await handed).toMatchObject({ disposition: "abandoned" });
    depth.give(1);
    expect([outbox.able, outbox.full, writes.length]).toEqual([true, false, 1]);
  });
});

describe("of those that redrive one dead letter", () => {
  const entry = { id: "e1", failedAt: 5 };
  const signal = new AbortController().signal;

  async function ended(kind: "done" | "dead") {
    const given = wayIntoOutbox();
    await given.hand(given.workOf(envelopeOf({ id: "r1" }), {}, entry));
    const place = { routeId: "r", bindingId: "out" };
    const [claim] = await given.store.claim({ ...place, limit: 1, loanMs: 1_000 }, signal);
    if (claim === undefined) throw new Error("the record is not lent");
    await given.store.finish([{ id: claim.record.id, token: claim.token, outcome: { kind } }], signal);
    return given;
  }

  test("one is in the outbox at a time, under whatever envelope id they go", async () => {
    const { workOf, hand, depth } = wayIntoOutbox();
    await hand(workOf(envelopeOf({ id: "r1" }), {}, entry));
    expect(await hand(workOf(envelopeOf({ id: "r2" }), {}, entry))).toMatchObject({ disposition: "duplicate" });
    expect(await hand(workOf(envelopeOf({ id: "r3" }), {}, { ...entry, failedAt: 6 }))).toMatchObject({
      disposition: "persisted",
    });
    expect(depth.depth).toBe(2);
  });

  test("one that has delivered makes way for none", async () => {
    const { workOf, hand } = await ended("done");
    expect(await hand(workOf(envelopeOf({ id: "r2" }), {}, entry))).toMatchObject({ disposition: "duplicate" });
  });

  test("one that has failed makes way for the next", async () => {
    const { workOf, hand, writes } = await ended("dead");
    expect(await hand(workOf(envelopeOf({ id: "r2" }), {}, entry))).toMatchObject({ disposition: "persisted" });
    const identities = writes.flat().map(({ identity }) => identity);
    // How many have failed before is counted alike wherever it is asked for.
    const failed = identities.map((identity) => (JSON.parse(identity ?? "[]") as unknown[])[2]);
    expect(failed).toEqual([0, 0, 1]);
    expect(await hand(workOf(envelopeOf({ id: "r3" }), {}, entry))).toMatchObject({ disposition: "duplicate" });
  });
});
