import { expect, test } from "vitest";
import { draw, type Fault, type Plan, runPlan } from "../src/index.ts";
import type { PlannedTap } from "../src/plan/planned-look.ts";
import { Auditor } from "../src/run/auditor.ts";
import { falseOf, numbersOf, type ToldLeg } from "../src/run/told-of-legs.ts";
import type { World } from "../src/run/world.ts";

/** One instance, directly from a broker, a message a second, and nothing that goes wrong. */
function calm(faults: readonly Fault[], more: Partial<Plan> = {}): Plan {
  let seed = 1;
  let drawn = draw(seed);
  const isSimple = ({ outbox, instances, leases, callers, documents, bindings, rate, dlq }: Plan): boolean =>
    [outbox, leases, callers, documents, rate, dlq.parts].every((part) => part === undefined) &&
    instances === 1 &&
    bindings.length === 1;
  while (!isSimple(drawn)) drawn = draw(++seed);
  const policy = { max_replay_attempts: 10, send_timeout: "1s" };
  return {
    ...drawn,
    document: { ...drawn.document, routes: (drawn.document.routes ?? []).map((route) => ({ ...route, policy })) },
    maxReplayAttempts: 10,
    drops: false,
    messages: Array.from({ length: 20 }, (_, number) => ({ number, at: 5_000 + number * 1_000 })),
    broker: { latencyMs: 1, confirms: false, releasable: false, counts: false },
    target: { latencyMs: 10, refuses: 0, loses: 0, silent: 0, slow: 0 },
    faults,
    calmAt: 60_000,
    ...more,
  };
}

const tapped = (tap: PlannedTap): Fault => ({ kind: "tap", at: 4_000, forMs: 50_000, tap });

async function traceOf(plan: Plan): Promise<string> {
  const { trace, violations } = await runPlan(plan, true);
  expect(violations).toEqual([]);
  return trace.join("");
}

test("whoever looks at a route is shown what it settles, until he looks no more or his time is over", async () => {
  expect(await traceOf(calm([tapped({ options: { payload: "full" }, readsMs: 1 })]))).toContain("who was shown 20,");
  const short = await traceOf(calm([tapped({ options: { durationMs: 5_000.123_4 }, readsMs: 1 })]));
  expect(short).toContain("is told that it is over");
});

test("whoever takes nothing of what he is shown changes nothing for the route", async () => {
  const trace = await traceOf(calm([tapped({ options: { rate: 2 } })]));
  expect(trace.match(/target \S+ takes/g)).toHaveLength(20);
  expect(trace).toContain("is shown 20, and told of 0 lost");
});

test("whoever comes back late is shown what was settled in his time, and nothing of what came after it", async () => {
  const unread = await traceOf(calm([tapped({ options: { durationMs: 5_000.123_4 } })]));
  expect(unread).toContain("is shown 4, and told of 0 lost");
  const slow = await traceOf(calm([tapped({ options: { durationMs: 5_000.123_4, rate: 1 }, readsMs: 4_000 })]));
  expect(slow).toContain("is told that it is over");
});

test("whoever asks where messages are is told the truth", async () => {
  const { violations } = await runPlan(calm([{ kind: "where", at: 4_000, forMs: 50_000, everyMs: 300, messages: 20 }]));
  expect(violations).toEqual([]);
});

function world(): { readonly auditor: Auditor; readonly plan: Plan } {
  const plan = { ...calm([]), bindings: ["out"] };
  return { plan, auditor: new Auditor(plan) };
}

test.each<[ToldLeg["outcome"], string | undefined]>([
  ["delivered", "out has got it, which has not"],
  ["dead_lettered", "it is in the DLQ, where it is not"],
  ["persisted", "it is in the outbox, where it is not"],
  ["dropped", "it is dropped, for which there is no reason"],
  ["abandoned", undefined],
])("of a message that is nowhere nobody may say that it is %s", (outcome, words) => {
  const leg = { bindingId: "out", outcome };
  expect(falseOf(world() as World, [0], leg)).toBe(words);
});

test("what is told of an id is told of each message that has it", () => {
  const { plan, auditor } = world();
  const messages = plan.messages.map((message) => (message.number < 2 ? { ...message, id: "twin-0" } : message));
  const numbers = numbersOf({ ...plan, messages }, { envelopeId: "twin-0" });
  expect(numbers).toEqual([0, 1]);
  auditor.source.published(1);
  auditor.targets.accepts(1, "out");
  expect(falseOf({ plan, auditor } as World, numbers ?? [], { bindingId: "out", outcome: "delivered" })).toBe(
    undefined,
  );
  expect(numbersOf(plan, { envelopeId: "of a redrive" })).toBe(undefined);
});

test("whoever asks where messages are is told the truth while a binding has another name", async () => {
  const { violations } = await runPlan(
    calm([
      { kind: "reload", at: 4_000, forMs: 40_000, change: { what: "bindings-renamed" } },
      { kind: "where", at: 4_500, forMs: 50_000, everyMs: 3, messages: 1 },
    ]),
  );
  expect(violations).toEqual([]);
});
