import { BridgeError, type Processor } from "@bridge/ports";
import { expect, test } from "vitest";
import { instantOf, Term } from "../../src/lease/term.ts";
import { giveBack } from "../../src/outbox/claim-verdicts.ts";
import { turn } from "../support/fake-clock.ts";
import { BATCH_MS, stage } from "./sender-stage.ts";

test("a record that gets no turn by the rate limit as long as its batch lasts goes back at its end, uncharged", async () => {
  const { clock, lease, sent, send } = stage({ rated: true });
  // It is not the lease that keeps it.
  lease.taken(new Term(clock, 2, instantOf(clock), 10 * BATCH_MS));
  void send("m1");
  let verdict: unknown;
  void send("m2").then((told) => (verdict = told));
  await clock.advance(29_999);
  expect(verdict).toBeUndefined();
  await clock.advance(1);
  expect(verdict).toEqual(giveBack(2));
  expect(sent()).toEqual(["m1"]);
});

test("a processor that let a record through hears how its send has ended, in either way", async () => {
  const heard: string[] = [];
  const gate: Processor = {
    process: (envelope) => ({ kind: "pass", envelope }),
    admit: ({ id }) => ({ kind: "admitted", ended: ({ kind }) => void heard.push(`${id} ${kind}`) }),
  };
  const { sender, send } = stage({ processors: [gate] });
  const sent = [send("m1"), send("m2")];
  await turn();
  sender.sends[0]?.accept();
  sender.sends[1]?.refuse(new BridgeError("UNAVAILABLE", "away"));
  expect(await Promise.all(sent)).toMatchObject([{ end: { kind: "done" } }, { end: { kind: "retry", attempts: 3 } }]);
  expect(heard).toEqual(["m1 accepted", "m2 failed"]);
});

test("what a processor does not let through is not sent, and fails as the processor says", async () => {
  const gate: Processor = {
    process: (envelope) => ({ kind: "pass", envelope }),
    admit: () => ({
      kind: "refused",
      error: new BridgeError("UNAVAILABLE", "the circuit is open", { charged: false }),
    }),
  };
  const { target, sent, send } = stage({ processors: [gate] });
  expect(await send("m1")).toMatchObject({ end: { kind: "retry", attempts: 2 } });
  expect([sent(), target.account.attempts]).toEqual([[], 0]);
});

test("a mistake of a DLQ store, which throws instead of rejecting, charges the record and is told with where it was", async () => {
  const { told, sent, send } = stage({
    get() {
      throw new TypeError("not a function");
    },
  });
  expect(await send("m1", { redriven: true })).toMatchObject({ end: { kind: "retry", attempts: 3 } });
  expect(told).toMatchObject([{ where: "binding out", envelope_id: "m1", error: "not a function" }]);
  expect(sent()).toEqual([]);
});

test("a record that has to wait neither for a turn nor for the DLQ is given to its sender at once: each wait is paid for by every message", () => {
  const { sent, send } = stage();
  void send("m1");
  expect(sent()).toEqual(["m1"]);
});
