import type { DispatchMode, RoutePolicy } from "@bridge/config";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type Delivery, type DlqStore, RESERVED } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { FailedAttempt } from "../../src/hooks/bridge-hooks.ts";
import { Failures } from "../../src/route/failures.ts";
import { Work } from "../../src/route/work.ts";
import { envelopeOf } from "../support/envelope.ts";
import { bound, outage, refusal } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";

interface Given {
  readonly policy?: Partial<RoutePolicy>;
  readonly dispatchMode?: DispatchMode;
  readonly delivery?: Partial<Delivery>;
  readonly headers?: Record<string, string>;
  readonly dlq?: Partial<DlqStore>;
}

/** A message whose leg to `out` has failed. */
function stage({ policy = {}, dispatchMode = "single", delivery = {}, headers = {}, dlq = {} }: Given = {}) {
  const told: { readonly binding?: string; readonly attempt: number; readonly error: Error }[] = [];
  const hooks = { onAttemptFailed: (attempt: FailedAttempt) => void told.push(attempt) };
  const { bridge, parts } = partsOf({ policy, dispatchMode, hooks });
  const [built] = parts.routes.values();
  if (built === undefined) throw new Error("the bridge has no route");
  const { clock } = bridge;
  const store: DlqStore = { ...openMemoryDlq({ maxEntries: 10 }), ...dlq };
  const route = { ...built, dlq: () => store };
  const failures = new Failures(route);
  const envelope = envelopeOf({ headers });
  const work = new Work({
    delivery: { message: envelope, settle: () => {}, ...delivery },
    envelope,
    origin: "received",
    startedAt: clock.monotonic(),
  });
  /** How the leg goes on after an attempt, or after none. */
  const after = (error: BridgeError, charged: number, bindingId = "out") => {
    const attempts = failures.attemptsOf(work, bindingId);
    attempts.charged = charged;
    return failures.after(work, bindingId, error, attempts);
  };
  return { clock, route, store, failures, work, after, told };
}

const GIVEN_BACK = { releasable: true } as const;

describe("contract §5: after a failure that may pass, a delivery", () => {
  test("goes back to a source that takes it, with how long that is to wait", async () => {
    const { after } = stage({ delivery: GIVEN_BACK });
    expect(await after(outage, 1)).toEqual({
      disposition: "released",
      delayMs: 1_000,
      error: outage,
      bindingId: "out",
    });
    expect(await after(outage, 1)).toMatchObject({ disposition: "released", delayMs: 2_000 });
  });

  test.each<[string, Given, BridgeError?]>([
    ["its source takes nothing back", {}],
    ["nobody would recognise it", { delivery: GIVEN_BACK, headers: { [RESERVED.generatedId]: "true" } }],
    ["it has a key whose order would change", { delivery: GIVEN_BACK, headers: { [RESERVED.orderingKey]: "k" } }],
    ["it stands for several legs", { delivery: GIVEN_BACK, dispatchMode: "fan_out" }],
    [
      "nothing was tried",
      { delivery: GIVEN_BACK },
      new BridgeError("UNAVAILABLE", "circuit open", { charged: false, retryAfterMs: 1_000 }),
    ],
  ])("is held until the next attempt when %s", async (_, given, error = outage) => {
    const { clock, after } = stage(given);
    let ended: unknown;
    void after(error, 1).then((how) => (ended = how));
    await clock.advance(999);
    expect(ended).toBeUndefined();
    await clock.advance(1);
    expect(ended).toBe("again");
  });
});

test("a leg that is cancelled is abandoned: its failure counts for nobody, and no dead letter is written", async () => {
  const { route, store, work, after } = stage();
  work.cancel();
  expect(await after(refusal, 1)).toEqual({ disposition: "abandoned", bindingId: "out" });
  expect(route.targets.get("out")?.account.refused).toBe(0);
  expect(await store.list({}, { limit: 1, offset: 0 }, bound())).toEqual([]);
});

test("a failure is the binding's, or that of the route before one was chosen", async () => {
  const { clock, route, after } = stage({ policy: { onPermanentFailure: "drop" } });
  route.account.handedOn = 7;
  await after(refusal, 1);
  await after(refusal, 1, "");
  const failure = { code: "REJECTED", error: refusal.message, at: clock.monotonic() };
  expect(route.targets.get("out")?.account).toMatchObject({ refused: 1, failure: { ...failure, delivered: 0 } });
  expect(route.unbound).toMatchObject({ refused: 1, failure: { ...failure, delivered: 7 } });
});

test.each([
  [refusal, "onPermanentFailure", "dropped"],
  [new BridgeError("MESSAGE_EXPIRED", "late"), "onExpired", "expired"],
  [new BridgeError("MESSAGE_FILTERED", "not an alarm"), "onFiltered", "filtered"],
] as const)("what the policy drops counts by why: %s", async (error, rule, disposition) => {
  const dropping = stage({ policy: { [rule]: "drop" } });
  expect(await dropping.after(error, 1)).toEqual({ disposition, error, bindingId: "out" });
  const keeping = stage({ policy: { [rule]: "dlq" } });
  expect(await keeping.after(error, 3)).toEqual({ disposition: "dead_lettered", error, bindingId: "out" });
  const [entry] = await keeping.store.list({}, { limit: 1, offset: 0 }, bound());
  expect(entry).toMatchObject({
    routeId: "r",
    bindingId: "out",
    errorCode: error.code,
    attempts: 3,
    failedAt: keeping.clock.now(),
  });
});

describe("a dead letter that its store does not take", () => {
  test("is written again and again, with backoff; why it waits is told until it is durable", async () => {
    const writes: number[] = [];
    const inner = openMemoryDlq({ maxEntries: 10 });
    const { clock, failures, after } = stage({
      dlq: {
        put(entry, signal) {
          writes.push(clock.monotonic());
          return writes.length < 3
            ? Promise.reject(new BridgeError("UNAVAILABLE", "disk full"))
            : inner.put(entry, signal);
        },
      },
    });
    const began = clock.monotonic();
    expect(failures.dlqFailure).toBeUndefined();
    const ended = after(refusal, 1);
    await clock.advance(2_999);
    expect(failures.dlqFailure).toMatchObject({ code: "UNAVAILABLE", message: "disk full" });
    await clock.advance(1);
    expect(await ended).toMatchObject({ disposition: "dead_lettered" });
    expect(writes.map((at) => at - began)).toEqual([0, 1_000, 3_000]);
    expect(failures.dlqFailure).toBeUndefined();
  });

  test("is left when its message is cancelled, which is abandoned then", async () => {
    const { clock, failures, work, after } = stage({
      dlq: { put: () => Promise.reject(new BridgeError("UNAVAILABLE", "disk full")) },
    });
    const ended = after(refusal, 1);
    await clock.advance(500);
    expect(failures.dlqFailure).toBeDefined();
    work.cancel();
    expect(await ended).toEqual({ disposition: "abandoned", bindingId: "out" });
    expect(failures.dlqFailure).toBeUndefined();
  });
});

test("attempts are remembered, also of a leg that has ended, until the message is forgotten at all its bindings", async () => {
  for (const [error, charged] of [
    [refusal, 1],
    [outage, 1],
    [new BridgeError("UNAVAILABLE", "circuit open", { charged: false }), 0],
  ] as const) {
    const { clock, failures, work, after } = stage({ policy: { onPermanentFailure: "drop" } });
    for (const bindingId of ["out", ""]) {
      const held = after(outage, 1, bindingId);
      await clock.advance(1_000);
      expect(await held).toBe("again");
      const next = after(error, charged, bindingId);
      await clock.advance(10_000);
      await next;
    }
    const before = (): number[] => ["out", ""].map((id) => failures.attemptsOf(work, id).before);
    expect(before()).toEqual([1 + charged, 1 + charged]);
    failures.forget(work);
    expect(before()).toEqual([0, 0]);
  }
});

test("what is cancelled may come again, and its attempts are kept", async () => {
  const { clock, failures, work, after } = stage();
  const held = after(outage, 1);
  await clock.advance(1_000);
  expect(await held).toBe("again");
  work.cancel();
  await after(outage, 1);
  expect(failures.attemptsOf(work, "out").before).toBe(1);
});

test("contract §5: a message is tried for as long as its budget lasts, counted from when it came, and then no more", async () => {
  const { clock, after } = stage({
    policy: { maxReplayAttempts: 1, replayBudgetMs: 10_000, onPermanentFailure: "drop" },
  });
  await clock.advance(9_999);
  const held = after(outage, 1);
  await clock.advance(1_000);
  expect(await held).toBe("again");
  expect(await after(outage, 1)).toMatchObject({ disposition: "dropped", error: outage });
});

describe("an attempt that failed", () => {
  test("is charged and told of, with its number and with what was thrown", async () => {
    const { clock, failures, work, told } = stage({ delivery: { receiveCount: 3 } });
    const attempts = failures.attemptsOf(work, "out");
    failures.charge(work, "out", outage, attempts);
    const thrown = new TypeError("x is not a function");
    failures.charge(work, "out", BridgeError.from(thrown), attempts);
    failures.charge(work, "", outage, attempts, refusal);
    expect([attempts.charged, attempts.total]).toEqual([3, 5]);
    await clock.advance(10);
    expect(told.map(({ binding, attempt, error }) => [binding, attempt, error])).toEqual([
      ["out", 3, outage],
      ["out", 4, thrown],
      [undefined, 5, refusal],
    ]);
  });

  test("is none when nothing was tried; and what a processor filters out is counted, but no failure", async () => {
    const { clock, failures, work, told } = stage();
    const attempts = failures.attemptsOf(work, "out");
    failures.charge(work, "out", new BridgeError("UNAVAILABLE", "circuit open", { charged: false }), attempts);
    expect(attempts.charged).toBe(0);
    failures.charge(work, "out", new BridgeError("MESSAGE_FILTERED", "not an alarm"), attempts);
    expect(attempts.charged).toBe(1);
    await clock.advance(10);
    expect(told).toEqual([]);
  });
});
