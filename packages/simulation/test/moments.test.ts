import { expect, test } from "vitest";
import { draw, type Fault, type Plan, runPlan } from "../src/index.ts";
import { UPON_WITHIN_MS } from "../src/plan/plan.ts";
import { Moments } from "../src/run/moments.ts";
import { VirtualTime } from "../src/time/virtual-time.ts";

const KILL: Fault = { kind: "kill", at: 0, forMs: 100 };
const UPON: Fault = { ...KILL, upon: { moment: "accepted", afterMs: 5 } };
const ONE = { name: "one", alive: true, pending: 0 };
const OTHER = { name: "other", alive: true, pending: 0 };

/** A fault that concerns the first instance; what is returned tells when it began. */
function waiting(fault: Fault) {
  const time = new VirtualTime();
  const moments = new Moments(time);
  const began: number[] = [];
  moments.begins(
    fault,
    () => ONE,
    () => began.push(time.now),
  );
  return { time, moments, began };
}

test("a fault that waits for nothing begins at once", () => {
  expect(waiting(KILL).began).toEqual([0]);
});

test("a fault begins once, so long after the next such moment of its instance", async () => {
  const { time, moments, began } = waiting(UPON);
  moments.comes("kept", ONE);
  moments.comes("accepted", OTHER);
  await time.pass(10);
  expect(began).toEqual([]);
  moments.comes("accepted", ONE);
  moments.comes("accepted", ONE);
  await time.pass(100);
  expect(began).toEqual([15]);
});

test("a fault whose moment does not come in time never begins", async () => {
  const { time, moments, began } = waiting(UPON);
  await time.pass(UPON_WITHIN_MS + 1);
  moments.comes("accepted", ONE);
  await time.pass(2 * UPON_WITHIN_MS);
  expect(began).toEqual([]);
});

/** The first seed of one instance that takes from a broker and sends to one target, with nothing between them. */
function plainPlan(): Plan {
  const isPlain = ({ outbox, callers, leases, documents, instances, broker, bindings }: Plan): boolean =>
    [outbox, callers, leases, documents, broker.loanMs].every((part) => part === undefined) &&
    instances === 1 &&
    bindings.length === 1;
  for (let seed = 1; ; seed++) if (isPlain(draw(seed))) return draw(seed);
}

test("an instance that is killed as its target takes a message has not heard of that, and another sends it again", async () => {
  const plan = {
    ...plainPlan(),
    messages: [{ number: 0, at: 1_000 }],
    target: { latencyMs: 10, refuses: 0, loses: 0, silent: 0, slow: 0 },
    faults: [{ ...UPON, upon: { moment: "accepted", afterMs: 0 } } as const],
    calmAt: 60_000,
  };
  const { violations, places } = await runPlan(plan);
  expect(violations).toEqual([]);
  expect(places.delivered).toEqual([{ number: 0, bindingId: plan.bindings[0], times: 2 }]);
});
