import { BridgeError, type DlqStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { Dice } from "../src/dice.ts";
import { DeadLetters, type DeadLettersOptions } from "../src/model/dead-letters.ts";
import { NEVER } from "../src/model/dlq-parts.ts";
import { type Owner, VirtualTime } from "../src/time/virtual-time.ts";
import { Trace } from "../src/trace.ts";
import { muteAuditor } from "./support/mute-auditor.ts";

const OWNER: Owner = { name: "one", alive: true, pending: 0 };

function stage(options: Partial<DeadLettersOptions> = {}) {
  const time = new VirtualTime();
  const came: string[] = [];
  const letters = new DeadLetters({
    time,
    trace: new Trace(() => time.now, false),
    auditor: muteAuditor,
    dice: new Dice(1),
    habits: { latencyMs: 1 },
    parts: true,
    moments: { comes: (moment) => void came.push(moment) },
    ...options,
  });
  const store = letters.store(OWNER);
  /** What it is answered, or the error. */
  const ask = async (call: (store: DlqStore) => Promise<unknown> | undefined): Promise<unknown> => {
    const answer = Promise.resolve(call(store)).catch((error: unknown) => error);
    await time.pass(time.now + 10);
    return answer;
  };
  return { letters, ask, came };
}

test("the moment of a deletion is that of an entry that was delivered, and of no other", async () => {
  const { ask, came } = stage();
  await ask(({ admin }) => admin?.delete(["a"], NEVER));
  expect(came).toEqual([]);
  await ask(({ admin }) => admin?.delete(["a"], NEVER, { delivered: true }));
  expect(came).toEqual(["redriven"]);
});

test("a busy store takes no writes, which is said to cost nobody an attempt, and tells what it has", async () => {
  const { letters, ask } = stage();
  letters.service.down = "busy";
  for (const write of [
    (store: DlqStore) => store.admin?.delete(["a"], NEVER, { delivered: true }),
    (store: DlqStore) => store.marks?.mark(new Map([["a", { at: 1, quarantined: true }]]), NEVER),
  ]) {
    const { code, charged } = BridgeError.from(await ask(write));
    expect([code, charged]).toEqual(["UNAVAILABLE", false]);
  }
  expect(await ask((store) => store.count(10, NEVER))).toEqual(0);
});

test.each([true, undefined])("counts by groups are estimates where a store has no others: %s", async (estimates) => {
  const { ask } = stage({ estimates });
  const request = { query: {}, by: ["routeId"], maxGroups: 10, buckets: 0 } as const;
  expect(await ask((store) => store.facets?.(request, NEVER))).toMatchObject({ exact: estimates !== true });
});
