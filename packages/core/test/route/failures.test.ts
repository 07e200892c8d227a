import { type Delivery, type Envelope, RESERVED } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { partKey } from "../../src/change/part-graph.ts";
import { Failures } from "../../src/route/failures.ts";
import { Work } from "../../src/route/work.ts";
import { envelopeOf } from "../support/envelope.ts";
import { outage, refusal } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";

interface Given {
  readonly receiveCount?: number;
  readonly replayBudgetMs?: number;
  readonly headers?: Record<string, string>;
}

/** A route whose ledger has two attempts of `m1`, made in a hold that began a minute ago, and a message that comes now. */
async function stage({ receiveCount, replayBudgetMs = 0, headers = {} }: Given = {}) {
  const { bridge, parts } = partsOf({ policy: { onPermanentFailure: "drop", replayBudgetMs } });
  const route = parts.routes.get(partKey.route("r"));
  if (route === undefined) throw new Error("the bridge has no route");
  const { clock } = bridge;
  const failures = new Failures(route);
  const workOf = (more: Partial<Delivery>, envelope = envelopeOf({ headers })): Work => {
    const delivery: Delivery = { message: envelope, settle: () => {}, ...more };
    return new Work({ delivery, envelope, origin: "received", startedAt: clock.monotonic() });
  };
  const former = workOf({}, envelopeOf());
  const began = clock.monotonic();
  const attempts = failures.attemptsOf(former, "out");
  attempts.charged = 2;
  const held = failures.after(former, "out", outage, attempts);
  await clock.advance(60_000);
  expect(await held).toBe("again");
  return { clock, began, failures, work: workOf({ receiveCount }) };
}

describe("spec 1.3: attempts and their age are counted on when a message comes again", () => {
  test("of a source that does not count, from the ledger", async () => {
    const { began, failures, work } = await stage();
    expect(failures.attemptsOf(work, "out")).toMatchObject({ before: 2, total: 2, since: began, lasting: true });
    expect(failures.firstAttempt(work, "out")).toBe(3);
    expect(failures.firstAttempt(work, "other")).toBe(1);
    failures.forget(work);
    expect(failures.attemptsOf(work, "out")).toMatchObject({ before: 0, since: work.startedAt, lasting: true });
    expect(failures.firstAttempt(work, "out")).toBe(1);
  });

  test("not of a message that nobody would recognise", async () => {
    const { failures, work } = await stage({ headers: { [RESERVED.generatedId]: "true" } });
    const attempts = failures.attemptsOf(work, "out");
    expect(attempts).toMatchObject({ before: 0, since: work.startedAt, lasting: false });
    attempts.charged = 2;
    expect(attempts.total).toBe(2);
  });

  test("of a source that counts, as it says, and the ledger remembers nothing of it", async () => {
    for (const [receiveCount, before] of [
      [0, 0],
      [1, 0],
      [4, 3],
    ] as const) {
      const { failures, work } = await stage({ receiveCount });
      expect(failures.attemptsOf(work, "out")).toMatchObject({
        key: undefined,
        before,
        since: work.startedAt,
        lasting: true,
      });
      expect(failures.firstAttempt(work, "out")).toBe(before + 1);
    }
  });

  test("but for the age, which it does not tell: not when it comes for the first time", async () => {
    const again = await stage({ receiveCount: 4, replayBudgetMs: 1 });
    expect(again.failures.attemptsOf(again.work, "out")).toMatchObject({
      before: 3,
      since: again.began,
      lasting: true,
    });
    const first = await stage({ receiveCount: 1, replayBudgetMs: 1 });
    expect(first.failures.attemptsOf(first.work, "out")).toMatchObject({ before: 0, since: first.work.startedAt });
    const headers = { [RESERVED.generatedId]: "true" };
    const unknown = await stage({ receiveCount: 4, replayBudgetMs: 1, headers });
    expect(unknown.failures.attemptsOf(unknown.work, "out")).toMatchObject({ before: 3, lasting: false });
  });
});

describe("what need not be looked for in the ledger is not: it would be for each message", () => {
  function fresh() {
    const { bridge, parts } = partsOf({ policy: { replayBudgetMs: 1 } });
    const [route] = parts.routes.values();
    if (route === undefined) throw new Error("the bridge has no route");
    const workOf = (envelope: Envelope, receiveCount?: number): Work => {
      const delivery: Delivery = { message: envelope, settle: () => {}, receiveCount };
      return new Work({ delivery, envelope, origin: "received", startedAt: bridge.clock.monotonic() });
    };
    const unread = Object.defineProperty(envelopeOf(), "headers", {
      get: () => {
        throw new Error("its identity is asked for");
      },
    });
    return { clock: bridge.clock, failures: new Failures(route), workOf, unread };
  }

  test("while no message has failed", () => {
    const { failures, workOf, unread } = fresh();
    for (const receiveCount of [1, undefined]) {
      const work = workOf(unread, receiveCount);
      expect(failures.firstAttempt(work, "out")).toBe(1);
      failures.forget(work);
    }
  });

  test("nor when only such have failed as nobody would recognise, of which nothing is kept", async () => {
    const { clock, failures, workOf, unread } = fresh();
    const minted = workOf(envelopeOf({ headers: { [RESERVED.generatedId]: "true" } }));
    const attempts = failures.attemptsOf(minted, "out");
    attempts.charged = 1;
    const held = failures.after(minted, "out", outage, attempts);
    await clock.advance(60_000);
    expect(await held).toBe("again");
    expect(failures.firstAttempt(workOf(unread), "out")).toBe(1);
  });
});

test("what is final ends by the policy; what would be tried again is never taken for an end", async () => {
  const { clock, work, failures } = await stage();
  expect(await failures.end(work, "out", refusal)).toEqual({
    disposition: "dropped",
    error: refusal,
    bindingId: "out",
  });
  const [ended] = await Promise.all([
    failures.end(work, "out", outage).catch((error: unknown) => error),
    clock.advance(60_000),
  ]);
  expect(ended).toEqual(new Error("UNAVAILABLE ends no message: it is tried again"));
});

test("what is cancelled is abandoned, whatever it has failed with", async () => {
  const { work, failures } = await stage();
  work.cancel();
  for (const error of [refusal, outage]) {
    expect(await failures.end(work, "out", error)).toEqual({ disposition: "abandoned", bindingId: "out" });
  }
});
