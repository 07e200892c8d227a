import type { Admission, Envelope } from "@bridge/ports";
import { expect, test } from "vitest";
import { draw, type Plan, runPlan } from "../src/index.ts";
import { gate, type OpenSends } from "../src/model/gate.ts";
import type { Target } from "../src/model/target.ts";

const ENVELOPE = {} as Envelope;

function stage() {
  const violations: string[] = [];
  const openSends: OpenSends = new Map();
  const target: { down: Target["down"] } = { down: undefined };
  const owner = { name: "one", alive: true, pending: 0 };
  const auditor = { violated: (what: string) => void violations.push(what) };
  const { admit } = gate({ target, auditor, openSends }, owner);
  const ask = (): Admission | undefined => admit(ENVELOPE, "out-0");
  return { violations, target, ask, open: () => openSends.get(owner) ?? 0 };
}

test("a gate lets every send through while its target is there, and most of them wait while it is down", () => {
  const { target, ask } = stage();
  expect([1, 2, 3].map(() => ask()?.kind)).toEqual(["admitted", "admitted", "admitted"]);
  target.down = "silent";
  expect([1, 2, 3, 4].map(() => ask()?.kind)).toEqual(["refused", "refused", "admitted", "refused"]);
});

test("a gate is to hear how each send that it lets through ends, once", () => {
  const { ask, open, violations } = stage();
  const admission = ask();
  if (admission?.kind !== "admitted") throw new Error("its target is there");
  expect(open()).toBe(1);
  admission.ended({ kind: "accepted" });
  expect([open(), violations]).toEqual([0, []]);
  admission.ended({ kind: "cancelled" });
  expect([open(), violations]).toEqual([0, ["a gate is told that a send is cancelled, which was accepted"]]);
});

test("with a gate no attempts of a message are spent while its target is down", async () => {
  let seed = 1;
  const isPlain = ({ gated, callers, leases, documents, instances, bindings }: Plan): boolean =>
    gated === true &&
    [callers, leases, documents].every((part) => part === undefined) &&
    instances === 1 &&
    bindings.length === 1;
  while (!isPlain(draw(seed))) seed++;
  const { violations, places } = await runPlan({
    ...draw(seed),
    messages: Array.from({ length: 50 }, (_, number) => ({ number, at: number * 100 })),
    target: { latencyMs: 10, refuses: 0, loses: 0, silent: 0, slow: 0 },
    faults: [{ kind: "target-down", at: 1_000, forMs: 30_000, answers: "refuses" }],
    calmAt: 40_000,
  });
  expect(violations).toEqual([]);
  expect(places.delivered.length).toBeGreaterThan(40);
});
