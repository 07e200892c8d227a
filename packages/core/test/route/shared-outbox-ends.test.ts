import { BridgeError, type PersistResult } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { Work } from "../../src/route/work.ts";
import { envelopeOf } from "../support/envelope.ts";
import { outage, refusal } from "../support/memory-bridge.ts";
import { wayIntoOutbox } from "../support/way-into-outbox.ts";

const { signal } = new AbortController();
const entry: Work["entry"] = { id: "e1", failedAt: 5 };

test("of several legs only those that are kept take room", async () => {
  const { workOf, hand, depth } = wayIntoOutbox({
    bindings: ["a", "b", "c"],
    write: () => Promise.resolve([{ kind: "persisted" }, { kind: "conflict" }, { kind: "persisted" }]),
  });
  await hand(workOf(envelopeOf()));
  expect(depth.depth).toBe(2);
});

test("a redrive that is given up before it is written is abandoned", async () => {
  const { clock, workOf, hand, depth } = wayIntoOutbox({ write: () => Promise.reject(outage) });
  const work = workOf(envelopeOf(), {}, entry);
  const handed = hand(work);
  await clock.advance(0);
  work.cancel();
  expect(await handed).toMatchObject({ disposition: "abandoned", failedBindings: ["out"] });
  expect(depth.depth).toBe(0);
});

describe("a caller who leaves", () => {
  test("while its message waits for room leaves that to the next one", async () => {
    const { clock, workOf, hand, writes, depth, books } = wayIntoOutbox({ max: 1 });
    await hand(workOf(envelopeOf()));
    let there = true;
    const left = hand(workOf(envelopeOf({ id: "m2" }), { begin: () => there }));
    const next = hand(workOf(envelopeOf({ id: "m3" }), { begin: () => true }));
    await clock.advance(1_000);
    there = false;
    depth.give(1);
    expect(await left).toMatchObject({ disposition: "abandoned", failedBindings: ["out"] });
    expect(await next).toMatchObject({ disposition: "persisted" });
    expect(writes.flat().map(({ envelope }) => envelope.id)).toEqual(["m1", "m3"]);
    expect(books()).toMatchObject({ inFlight: 0, inOutbox: 2, dispositions: { abandoned: 1 } });
  });

  test("after a write that has failed is waited for by no other one", async () => {
    const { clock, outbox, workOf, hand, writes, depth, books } = wayIntoOutbox({
      write: () => Promise.reject(outage),
    });
    let there = true;
    const handed = hand(workOf(envelopeOf(), { begin: () => there }));
    await clock.advance(1_000);
    expect(writes).toHaveLength(2);
    there = false;
    await clock.advance(2_000);
    expect([writes.length, outbox.able, outbox.failure, depth.depth]).toEqual([2, true, undefined, 0]);
    expect(await handed).toMatchObject({ disposition: "abandoned" });
    expect(books()).toMatchObject({ inFlight: 0, inOutbox: 0, dispositions: { abandoned: 1 } });
  });

  test("while its message waited for anything else has nothing written, and one whose message never waited is not asked after", async () => {
    const { workOf, hand, writes } = wayIntoOutbox();
    const work = workOf(envelopeOf(), { begin: () => false });
    work.waited();
    expect(await hand(work)).toMatchObject({ disposition: "abandoned" });
    expect(writes).toEqual([]);
    expect(await hand(workOf(envelopeOf(), { begin: () => false }))).toMatchObject({ disposition: "persisted" });
  });
});

describe("a redrive with several legs", () => {
  const bindings = ["a", "b"];

  /** Such a redrive, of which the legs have ended so. */
  async function ended(...kinds: readonly ("done" | "dead")[]) {
    const given = wayIntoOutbox({ bindings });
    await given.hand(given.workOf(envelopeOf({ id: "r1" }), {}, entry));
    for (const [at, kind] of kinds.entries()) {
      const place = { routeId: "r", bindingId: bindings[at] ?? "" };
      const [claim] = await given.store.claim({ ...place, limit: 1, loanMs: 1_000 }, signal);
      if (claim === undefined) throw new Error("the record is not lent");
      await given.store.finish([{ id: claim.record.id, token: claim.token, outcome: { kind } }], signal);
    }
    return given;
  }

  test.each<[string, "done" | "dead", "done" | "dead"]>([
    ["the first", "dead", "done"],
    ["the second", "done", "dead"],
    ["each", "dead", "dead"],
  ])("makes way for the next when %s of them has failed: its dead letter is still there", async (_, ...kinds) => {
    const { workOf, hand } = await ended(...kinds);
    expect(await hand(workOf(envelopeOf({ id: "r2" }), {}, entry))).toMatchObject({ disposition: "persisted" });
  });

  test.each<[string, ...("done" | "dead")[]]>([
    ["one is still to be sent", "dead"],
    ["all were delivered", "done", "done"],
  ])("makes way for none when %s", async (_, ...kinds) => {
    const { workOf, hand } = await ended(...kinds);
    expect(await hand(workOf(envelopeOf({ id: "r2" }), {}, entry))).toMatchObject({ disposition: "duplicate" });
  });
});

test.each<[string, PersistResult]>([
  ["has just been persisted", { kind: "persisted" }],
  ["will never be taken", { kind: "refused", error: refusal }],
])("a redrive of which a leg has failed before is not written again when another leg %s", async (_, result) => {
  const { workOf, hand, writes } = wayIntoOutbox({
    bindings: ["a", "b"],
    write: () => Promise.resolve([result, { kind: "duplicate", id: "other", status: "dead" }]),
  });
  await hand(workOf(envelopeOf(), {}, entry));
  expect(writes).toHaveLength(1);
});

test("a record that will never be taken is refused with what the store said of it as the cause", async () => {
  const told = new BridgeError("UNAVAILABLE", "not this one");
  const { workOf, hand } = wayIntoOutbox({ write: () => Promise.resolve([{ kind: "refused", error: told }]) });
  const { error } = await hand(workOf(envelopeOf()));
  expect(error).toMatchObject({ code: "REJECTED", message: "not this one", cause: told });
});

test("the same failure is told again when the outbox took something in between", async () => {
  const failing = new Set([1, 3]);
  const { clock, workOf, hand, errors } = wayIntoOutbox({
    write: (_, times) => (failing.has(times) ? Promise.reject(outage) : undefined),
  });
  for (const id of ["m1", "m2"]) {
    const handed = hand(workOf(envelopeOf({ id })));
    await clock.advance(1_000);
    expect(await handed).toMatchObject({ disposition: "persisted" });
  }
  expect(errors).toHaveLength(2);
});

test.each([false, true])(
  "a record of a message that was given up is nobody's when it comes out of the outbox after all (shared: %s)",
  async (shared) => {
    const { clock, route, store, workOf, hand, books, writes } = wayIntoOutbox({
      shared,
      write: (records, times) =>
        times > 1 ? undefined : store.persist(records, signal).then(() => Promise.reject(outage)),
    });
    const work = workOf(envelopeOf());
    const handed = hand(work);
    await clock.advance(0);
    work.cancel();
    expect(await handed).toMatchObject({ disposition: "abandoned" });
    const [record] = writes[0] ?? [];
    const own = route.targets.get("out")?.account.drain("delivered", record?.id ?? "", shared);
    expect(own).toBe(false);
    expect(books()).toMatchObject({ received: 1, recovered: 1, inFlight: 0, inOutbox: 0 });
  },
);

test("what was persisted where others drain too is one's own until it has ended", async () => {
  for (const shared of [false, true]) {
    const { route, workOf, hand } = wayIntoOutbox({ shared });
    const { records } = await hand(workOf(envelopeOf()));
    const ids = records?.map(({ recordId }) => recordId);
    expect([...(route.targets.get("out")?.account.own ?? [])]).toEqual(shared ? ids : []);
  }
});
