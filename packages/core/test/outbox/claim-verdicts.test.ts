import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import {
  BridgeError,
  type DlqStore,
  type OutboxClaim,
  type OutboxStatus,
  type OutboxStore,
  RESERVED,
  systemRandom,
  type RouteTracer,
} from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { ClaimVerdicts, giveBack } from "../../src/outbox/claim-verdicts.ts";
import { EntryFates } from "../../src/outbox/entry-fates.ts";
import { legIds } from "../../src/outbox/leg-ids.ts";
import { replayHeader } from "../../src/dlq-job/replay-id.ts";
import { StoreCalls } from "../../src/route/store-calls.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";
import { HastyClock } from "../support/hasty-clock.ts";
import { policyOf } from "../support/policy.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const TRACE = { trace_id: "0af7651916cd43dd8448eb211c80319c", span_id: "b7ad6b7169203331" };
const never = new AbortController().signal;

interface Given {
  readonly dlq?: Partial<DlqStore> | "none";
  readonly outbox?: Partial<OutboxStore> | "none";
  readonly traces?: boolean;
  readonly policy?: Parameters<typeof policyOf>[0];
  readonly clock?: FakeClock;
}

/** Says what claims of route `r`, binding `b` come to; what it does with them is kept. */
function place({ dlq = {}, outbox = {}, traces = false, policy, clock = new FakeClock() }: Given = {}) {
  const random = systemRandom();
  const deleted: string[] = [];
  const told: [what: string, ...about: unknown[]][] = [];
  const tell =
    (what: string) =>
    (...about: unknown[]): void =>
      void told.push([what, ...about]);
  const entries = openMemoryDlq({ maxEntries: 100 });
  const dlqStore = dlq === "none" ? undefined : { ...entries, admin: deleting(deleted), ...dlq };
  const outboxStore =
    outbox === "none"
      ? undefined
      : { ...openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random }), ...outbox };
  const givenUp = new AbortController();
  const failureLog = Object.fromEntries(
    ["notDeleted", "triedInVain", "dropped", "notWritten"].map((name) => [name, tell(name)]),
  );
  const parts = {
    clock,
    random: { next: () => 0.5 },
    config: { id: "r", policy: policyOf(policy) },
    dlq: () => dlqStore,
    outbox: () => outboxStore,
    account: { dlqWriteFailures: 0 },
    failureLog,
    logger: { info: tell("info"), warn: tell("warn") },
    hooks: { attemptFailed: tell("attemptFailed"), deadLetter: tell("deadLetter") },
    storeCalls: { dlq: new StoreCalls(clock), outbox: new StoreCalls(clock) },
    tracer: traces ? ({} as RouteTracer) : undefined,
  };
  const observe = { observe: () => {} };
  const account = { outboxAge: observe, endToEnd: observe, fail: tell("fail") };
  const verdicts = new ClaimVerdicts({
    parts,
    target: { bindingId: "b", account },
    entries: new EntryFates(),
    givenUp: givenUp.signal,
  } as unknown as ConstructorParameters<typeof ClaimVerdicts>[0]);
  const of = (what: string) => told.filter(([name]) => name === what);
  return { clock, verdicts, deleted, told, of, givenUp };
}

function deleting(deleted: string[]): DlqStore["admin"] {
  const remove = (ids: readonly string[]) => (deleted.push(...ids), Promise.resolve(new Set(ids)));
  return { delete: remove } as unknown as DlqStore["admin"];
}

function claimOf(changes: Partial<OutboxClaim["record"]> = {}, attempts = 0): OutboxClaim {
  const envelope = envelopeOf({ headers: { traceparent: TRACEPARENT } });
  const record = { id: "record", routeId: "r", bindingId: "b", envelope, createdAt: 0, ...changes };
  return { record, token: "t", attempts } as unknown as OutboxClaim;
}

describe("a record that was accepted", () => {
  test("is done, and takes no dead letter along when it redrove none", async () => {
    const { verdicts, deleted } = place();
    expect(await verdicts.accepted(claimOf())).toEqual({
      end: { kind: "done" },
      outcome: { disposition: "delivered" },
    });
    await verdicts.entered(claimOf().record);
    expect(deleted).toEqual([]);
  });

  test("takes the dead letter along that it redrove: at once when it is the only leg", async () => {
    const { verdicts, deleted } = place({ outbox: "none" });
    const { record } = claimOf({ entryId: "e" });
    await verdicts.accepted({ record, token: "t", attempts: 0 });
    expect(deleted).toEqual(["e"]);
    await verdicts.entered(record);
    expect(deleted).toEqual(["e"]);
  });

  test.each<[OutboxStatus | undefined | "away", readonly string[]]>([
    ["done", ["e"]],
    ["pending", []],
    ["dead", []],
    [undefined, []],
    ["away", []],
  ])("of two legs takes it along when the other is known to be delivered: it is %j", async (status, expected) => {
    const [own, other] = legIds("m", 2);
    const asked: string[] = [];
    const statusOf = (id: string) => (asked.push(id), Promise.resolve(status as OutboxStatus | undefined));
    const { verdicts, deleted } = place({ outbox: status === "away" ? "none" : { status: statusOf } });
    const { record } = claimOf({ id: own!, entryId: "e" });
    await verdicts.accepted({ record, token: "t", attempts: 0 });
    expect(deleted).toEqual(expected);
    await verdicts.entered(record);
    expect(deleted).toEqual([...expected, ...expected]);
    expect(asked).toEqual(status === "away" ? [] : [other, other]);
    await verdicts.entered(claimOf({ id: own! }).record);
    expect(deleted).toEqual([...expected, ...expected]);
  });

  test("of two legs leaves it when the store does not answer, or nobody waits for it any more", async () => {
    for (const end of ["time", "given up"]) {
      const clock = end === "time" ? new HastyClock() : new FakeClock();
      const { verdicts, deleted, givenUp } = place({ clock, outbox: { status: () => new Promise(() => {}) } });
      const accepted = Promise.resolve(verdicts.accepted(claimOf({ id: legIds("m", 2)[0]!, entryId: "e" })));
      await turn();
      if (end === "given up") givenUp.abort(new Error("over"));
      expect(await accepted).toMatchObject({ end: { kind: "done" } });
      expect(deleted).toEqual([]);
    }
  });

  test("is done though the DLQ does not say whether it has deleted the dead letter in time, or nobody waits any more", async () => {
    for (const end of ["time", "given up"]) {
      const clock = end === "time" ? new HastyClock() : new FakeClock();
      const silent = { delete: () => new Promise(() => {}) } as unknown as NonNullable<DlqStore["admin"]>;
      const { verdicts, of, givenUp } = place({ clock, dlq: { admin: silent } });
      const accepted = Promise.resolve(verdicts.accepted(claimOf({ entryId: "e" })));
      await turn();
      if (end === "given up") givenUp.abort(new Error("over"));
      expect(await accepted).toMatchObject({ end: { kind: "done" } });
      expect(of("notDeleted")).toHaveLength(1);
    }
  });

  test.each([true, false])(
    "whose dead letter cannot be deleted is told of, in its trace if there are any (%s)",
    async (traces) => {
      const { verdicts, of } = place({ dlq: "none", traces });
      await verdicts.accepted(claimOf({ entryId: "e" }));
      expect(of("notDeleted")).toEqual([["notDeleted", "e", expect.any(BridgeError), traces ? TRACE : {}]]);
    },
  );
});

describe("a replay whose failure its dead letter tells", () => {
  const MARK = { count: 1, lastAt: 1, lastCode: "FORBIDDEN", lastError: "not you", jobTry: 2, jobId: "j" };
  const received = envelopeOf({ headers: { [RESERVED.job]: replayHeader({ jobId: "j", attempt: 2 }) } });
  const marked: DlqStore["get"] = (id) => Promise.resolve({ id, marks: { redrives: MARK } } as never);

  test("is dead-lettered as the mark says, and not sent again", async () => {
    const { verdicts } = place({ dlq: { get: marked } });
    const verdict = await verdicts.givenUpBefore(claimOf({ received, entryId: "e" }).record);
    expect(verdict).toMatchObject({
      end: { kind: "dead" },
      outcome: { disposition: "dead_lettered", error: { code: "FORBIDDEN", message: "not you" } },
    });
  });

  test.each<[string, Given, Partial<OutboxClaim["record"]>]>([
    ["is of one of several legs", { dlq: { get: marked } }, { id: legIds("m", 2)[0]!, received, entryId: "e" }],
    ["is no replay", { dlq: { get: marked } }, { entryId: "e" }],
    ["redrove no dead letter", { dlq: { get: marked } }, { received }],
    ["has a DLQ that is not open", { dlq: "none" }, { received, entryId: "e" }],
    ["has a DLQ that refuses", { dlq: { get: () => Promise.reject(new Error("away")) } }, { received, entryId: "e" }],
    ["has a dead letter that is gone", { dlq: { get: () => Promise.resolve(undefined) } }, { received, entryId: "e" }],
  ])("nobody knows of one that %s", async (_, given, record) => {
    expect(await place(given).verdicts.givenUpBefore(claimOf(record).record)).toBeUndefined();
  });

  test("nobody knows of it when the DLQ does not answer in time, or nobody waits any more", async () => {
    for (const end of ["time", "given up"]) {
      const clock = end === "time" ? new HastyClock() : new FakeClock();
      const { verdicts, givenUp } = place({ clock, dlq: { get: () => new Promise(() => {}) } });
      const asked = verdicts.givenUpBefore(claimOf({ received, entryId: "e" }).record);
      await turn();
      if (end === "given up") givenUp.abort(new Error("over"));
      expect(await asked).toBeUndefined();
    }
  });
});

describe("a record that failed", () => {
  const permanent = (message = "no"): BridgeError => new BridgeError("FORBIDDEN", message);
  const down = new BridgeError("UNAVAILABLE", "down");

  test.each<[string, BridgeError, number]>([
    ["is charged", down, 1],
    ["is not charged", new BridgeError("UNAVAILABLE", "busy", { charged: false }), 0],
    ["was filtered out", new BridgeError("MESSAGE_FILTERED", "not wanted"), 0],
  ])("is told to hooks when the attempt %s", async (_, error, times) => {
    const { verdicts, of } = place();
    await verdicts.failed(claimOf({}, 3), error, never);
    expect(of("attemptFailed")).toHaveLength(times);
    if (times > 0) expect(of("attemptFailed")[0]?.[1]).toMatchObject({ routeId: "r", bindingId: "b", attempt: 4 });
  });

  test.each([true, false])("is tried again, and logged in its trace if there are any (%s)", async (traces) => {
    const { verdicts, of } = place({ traces });
    expect(await verdicts.failed(claimOf(), down, never)).toMatchObject({ end: { kind: "retry", attempts: 1 } });
    expect(of("triedInVain")[0]?.[1]).toMatchObject({ bindingId: "b", trace: traces ? TRACE : {} });
  });

  test("of a dead letter that is gone is kept nowhere, and its record ends", async () => {
    const { verdicts, of } = place();
    const headers = { [RESERVED.job]: replayHeader({ jobId: "job-1", attempt: 1 }) };
    const claim = claimOf({ entryId: "e", received: envelopeOf({ headers }) });
    expect(await verdicts.failed(claim, permanent(), never)).toMatchObject({
      end: { kind: "dead" },
      outcome: { disposition: "dropped" },
    });
    expect([of("deadLetter"), of("dropped")]).toEqual([[], []]);
  });

  test("is kept in the DLQ or dropped, and only what is dropped is told to be", async () => {
    const keeping = place();
    expect(await keeping.verdicts.failed(claimOf(), permanent(), never)).toMatchObject({
      end: { kind: "dead" },
      outcome: { disposition: "dead_lettered" },
    });
    expect([keeping.of("dropped").length, keeping.of("deadLetter").length]).toEqual([0, 1]);
    const dropping = place({ policy: { onPermanentFailure: "drop" } });
    await dropping.verdicts.failed(claimOf(), permanent(), never);
    expect([dropping.of("dropped").length, dropping.of("deadLetter").length]).toEqual([1, 0]);
  });

  test("whose dead letter cannot be written is tried again, uncharged, later with each attempt", async () => {
    const { verdicts, clock } = place({ dlq: "none" });
    const delays: number[] = [];
    for (const attempts of [0, 1, 2, 3]) {
      const { end } = await verdicts.failed(claimOf({ id: `record ${attempts}` }, attempts), permanent(), never);
      if (end.kind !== "retry") throw new Error("it was to be tried again");
      expect(end.attempts).toBe(attempts);
      delays.push(end.delayMs);
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(verdicts.undeadlettered.failure).toMatchObject({ code: "UNAVAILABLE" });
    // Until it has been tried again, and a minute more: its wait, and as long as a send may take.
    clock.skip(8_000 + 30_000 + 60_000 - 1);
    expect(verdicts.undeadlettered.failure).toBeDefined();
    clock.skip(1);
    expect(verdicts.undeadlettered.failure).toBeUndefined();
  });

  test("goes back as it was when the work ends before its dead letter is written", async () => {
    const { verdicts } = place({ dlq: "none" });
    const verdict = await verdicts.failed(claimOf({}, 2), permanent(), AbortSignal.abort(new Error("over")));
    expect(verdict).toEqual(giveBack(2));
    expect(verdicts.undeadlettered.failure).toBeUndefined();
  });
});
