import { openMemoryOutbox } from "@bridge/memory";
import {
  BridgeError,
  type ClaimEnd,
  type LogFields,
  type OutboxStore,
  silentLogger,
  systemRandom,
} from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LegAccount } from "../../src/accounting/leg-account.ts";
import { ClaimEnds } from "../../src/outbox/claim-ends.ts";
import { StoreCalls } from "../../src/route/store-calls.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { HastyClock } from "../support/hasty-clock.ts";

const END: ClaimEnd = { id: "record", token: "t", outcome: { kind: "done" } };

/** The ends of one route's records, told to a store of which `finish` and `status` are given. */
function tellingTo(calls: (clock: FakeClock) => Partial<OutboxStore> | undefined, clock = new FakeClock()) {
  const changes = calls(clock);
  const store = changes && {
    ...openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() }),
    ...changes,
  };
  const told: (LogFields | undefined)[] = [];
  const account = { outboxWriteFailures: 0 };
  const leaving = new AbortController();
  const givenUp = new AbortController();
  const parts = {
    account,
    clock,
    logger: { ...silentLogger, error: (_: string, fields?: LogFields) => void told.push(fields) },
    storeCalls: { dlq: new StoreCalls(clock), outbox: new StoreCalls(clock) },
  } as unknown as ConstructorParameters<typeof ClaimEnds>[1];
  const leg = new LegAccount("r", "out");
  const signals = { leg, leaving: leaving.signal, givenUp: givenUp.signal };
  return { clock, leg, ends: new ClaimEnds(() => store, parts, signals), told, account, leaving, givenUp };
}

const full = new BridgeError("UNAVAILABLE", "disk full");

/** Lets time pass until it is known whether the end was entered. */
async function answered(clock: FakeClock, entered: Promise<boolean | undefined>): Promise<boolean | undefined> {
  let over = false;
  void entered.then(() => (over = true));
  await clock.until(() => over, 1_000);
  return entered;
}

test("an end is repeated for a minute, and five times at least, less and less often: then the record is sent again", async () => {
  await fc.assert(
    // The example is over after a minute to the millisecond.
    fc.asyncProperty(fc.integer({ min: 0, max: 20_000 }), async (callMs) => {
      const begun: number[] = [];
      const { clock, ends, account, told } = tellingTo((time) => ({
        async finish() {
          begun.push(time.now());
          time.skip(callMs);
          throw full;
        },
      }));
      expect(await answered(clock, ends.enter(END))).toBeUndefined();
      const expected: number[] = [];
      const [start = 0] = begun;
      for (let at = start, pauseMs = 500; ; pauseMs = Math.min(4_000, 2 * pauseMs)) {
        expected.push(at);
        if (expected.length >= 5 && at + callMs - start >= 60_000) break;
        at += callMs + pauseMs;
      }
      expect(begun).toEqual(expected);
      expect(account.outboxWriteFailures).toBe(expected.length);
      expect(told).toEqual([{ code: "UNAVAILABLE", error: "disk full", records: 1 }]);
    }),
    { numRuns: 30, examples: [[0], [20_000], [5_062.5]] },
  );
});

test("while a stop waits, an end is repeated every half second and five times in all", async () => {
  const begun: number[] = [];
  const { clock, ends, leaving } = tellingTo((time) => ({
    async finish() {
      begun.push(time.now());
      throw full;
    },
  }));
  leaving.abort();
  expect(await answered(clock, ends.enter(END))).toBeUndefined();
  const [start = 0] = begun;
  expect(begun.map((at) => at - start)).toEqual([0, 500, 1_000, 1_500, 2_000]);
});

test("what is given up is answered at once, whether it waits for the store or for its next try", async () => {
  for (const finish of [() => new Promise<never>(() => {}), () => Promise.reject(full)]) {
    const { clock, ends, leaving, givenUp } = tellingTo(() => ({ finish }));
    leaving.abort();
    const entered = ends.enter(END);
    await clock.advance(0);
    givenUp.abort(new BridgeError("TIMEOUT", "no time left"));
    expect(await entered).toBeUndefined();
  }
});

test.each([
  ["is not there", undefined, "UNAVAILABLE", "no outbox store is open"],
  ["does not answer", { finish: () => new Promise<never>(() => {}) }, "TIMEOUT", "the outbox store did not answer"],
  ["refuses", { finish: () => Promise.reject(full) }, "UNAVAILABLE", "disk full"],
])("a store that %s: why is known while an end waits for that, and no longer", async (_, calls, code, message) => {
  const { clock, ends } = tellingTo(() => calls, new HastyClock());
  expect(ends.fault).toBeUndefined();
  const entered = ends.enter(END);
  await clock.until(() => ends.fault !== undefined);
  expect(ends.fault).toMatchObject({ code, message });
  expect(await answered(clock, entered)).toBeUndefined();
  expect(ends.fault).toBeUndefined();
});

test.each([
  ["done", "done"],
  ["dead", "dead"],
  ["retry", "pending"],
] as const)(
  "%s that is refused when it is repeated was entered before if the record is %s, or forgotten as finished",
  async (kind, become) => {
    for (const status of ["done", "dead", "pending", undefined] as const) {
      for (const said of [true, false]) {
        let tries = 0;
        let asked = 0;
        const { clock, ends } = tellingTo(() => ({
          async finish() {
            if (tries++ === 0) throw full;
            return [said];
          },
          async status() {
            asked++;
            return status;
          },
        }));
        const outcome: ClaimEnd["outcome"] = kind === "retry" ? { kind, delayMs: 0, attempts: 1 } : { kind };
        expect(await answered(clock, ends.enter({ ...END, outcome }))).toBe(
          said || status === become || (status === undefined && kind !== "retry"),
        );
        expect(asked).toBe(said ? 0 : 1);
      }
    }
  },
);

/** Two loans of one record, one after the other, that end here; the answer to the first end was lost. What became of both ends. */
async function lentTwice({ second }: { readonly second: boolean }) {
  let lost = true;
  const { clock, ends } = tellingTo(() => ({
    async finish([end]) {
      if (end?.token === "second") return [second];
      if (!lost) return [false];
      lost = false;
      throw full;
    },
    status: async () => "done",
  }));
  const first = ends.enter({ ...END, token: "first" });
  await clock.advance(1);
  const other = await answered(clock, ends.enter({ ...END, token: "second" }));
  return [await answered(clock, first), other];
}

test("an end whose answer was lost was not entered if a later loan's end of the record is, and may have been if that is refused", async () => {
  expect(await lentTwice({ second: true })).toEqual([false, true]);
  expect(await lentTwice({ second: false })).toEqual([true, false]);
});

test.each([
  ["before the call fails", true],
  ["before the call fails", false],
  ["after it", true],
  ["after it", false],
] as const)(
  "an end whose answer was lost was not entered if an operator has moved the record %s, whether the store answers again (%s) or not",
  async (when, answers) => {
    let tries = 0;
    const { clock, ends, leg } = tellingTo(() => ({
      async finish() {
        if (tries++ === 0 && when !== "after it") leg.move("dead_lettered", END.id, false);
        if (tries === 1 || !answers) throw full;
        return [false];
      },
      status: async () => "dead",
    }));
    leg.recover(1);
    leg.onLoan = 1;
    const entered = ends.enter({ ...END, outcome: { kind: "dead" } });
    await clock.advance(1);
    if (when === "after it") leg.move("dead_lettered", END.id, false);
    expect(await answered(clock, entered)).toBe(false);
  },
);

test("when the store is asked no more, nobody knows of an end whose answer was lost, unless a later one of its record was entered", async () => {
  let tries = 0;
  const { clock, ends } = tellingTo(() => ({
    async finish() {
      if (tries++ === 0) throw full;
      return [true, false, true];
    },
    status: () => Promise.reject(full),
  }));
  const others = ["first", "second"].map((token) => ({ ...END, id: "other", token }));
  const entered = [END, ...others].map((end) => ends.enter(end));
  await answered(clock, entered[0] ?? Promise.resolve(undefined));
  expect(await Promise.all(entered)).toEqual([undefined, false, undefined]);
});

test("an end that was given up is kept no longer, however many follow", async () => {
  let [looks, tries] = [0, 0];
  const { clock, ends, leaving } = tellingTo(() => ({
    async finish() {
      if (tries++ < 5) throw full;
      return [true];
    },
  }));
  leaving.abort();
  const first = {
    ...END,
    get id() {
      looks++;
      return "first";
    },
  };
  expect(await answered(clock, ends.enter(first))).toBeUndefined();
  const before = looks;
  expect(await answered(clock, ends.enter(END))).toBe(true);
  expect(looks).toBe(before);
});
