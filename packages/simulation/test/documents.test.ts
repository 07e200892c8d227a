import { describe, expect, test } from "vitest";
import { draw, type Fault, type Plan, runPlan } from "../src/index.ts";
import type { PlannedCommit } from "../src/plan/planned-commit.ts";
import { BACK_MS, DocumentBooks } from "../src/run/document-books.ts";

/** One instance beside a file, or two that share a table, through which a message comes every second, for two minutes. */
function planWith(shared: boolean, faults: readonly Fault[], stored = false): Plan {
  let seed = 1;
  let drawn = draw(seed);
  const fits = ({ outbox, leases, instances, documents, bindings }: Plan): boolean =>
    (outbox === undefined) !== stored &&
    leases === undefined &&
    bindings.length === 1 &&
    documents?.shared === shared &&
    instances === (shared ? 2 : 1);
  while (!fits(drawn)) drawn = draw(++seed);
  return {
    ...drawn,
    messages: Array.from({ length: 120 }, (_, number) => ({ number, at: number * 1_000 })),
    target: { latencyMs: 10, refuses: 0, loses: 0, silent: 0, slow: 0 },
    documents: { latencyMs: 10, shared },
    faults,
    calmAt: 240_000,
  };
}

const POLICY = { what: "policy", policy: { max_in_flight: 7 } } as const;
const commit = (trial?: PlannedCommit["trial"]): Fault => ({
  kind: "commit",
  at: 20_000,
  forMs: 200_000,
  commit: { change: POLICY, ...(trial !== undefined && { trial }) },
});
const trial = (next: "confirm" | "revert" | "nothing"): Fault => commit({ withinMs: 30_000, next, afterMs: 10_000 });

async function told(shared: boolean, faults: readonly Fault[]): Promise<readonly string[]> {
  const { trace, violations } = await runPlan(planWith(shared, faults), true);
  expect(violations).toEqual([]);
  return trace.flatMap(
    (line) =>
      /^[\d.]+ (document: .*|an operator (?:tries|confirms|takes).*|.*taken back.*|somebody .*|.*cannot start.*)\n$/.exec(
        line,
      )?.[1] ?? [],
  );
}

describe.each([false, true])("a change of a document, shared: %s", (shared) => {
  const tried = shared ? "document: version 2 is confirmed" : "document: version 2 is written to be tried out";

  test("that is committed is written, and so is the change back", async () => {
    const lines = await told(shared, [commit()]);
    expect(lines.filter((line) => /written$|confirmed$/.test(line))).toHaveLength(2);
  });

  test("operators 7: that is confirmed stays until it is changed back", async () => {
    const lines = await told(shared, [trial("confirm")]);
    expect(lines).toContain(tried);
    expect(lines).not.toContainEqual(expect.stringContaining("taken back"));
  });

  test.each(["revert", "nothing"] as const)("operators 7: that is tried out goes back: %s", async (next) => {
    const lines = await told(shared, [trial(next)]);
    expect(lines.some((line) => line.includes("was taken back, and the former one is stored again"))).toBe(true);
    expect(lines).not.toContain("document: version 2 is confirmed");
  });

  test("operators 7: of a process that is killed meanwhile goes back", async () => {
    const lines = await told(shared, [trial("nothing"), { kind: "kill", at: 25_000, forMs: 3_000 }]);
    if (shared) expect(lines).not.toContain("document: version 2 is confirmed");
    else expect(lines).toContainEqual(expect.stringContaining("was taken back at the start"));
  });

  test("another hand's document counts, whatever is tried out", async () => {
    const hand: Fault = { kind: "by-hand", at: 30_000, forMs: 0, change: { what: "rate", perSecond: 100 } };
    const lines = await told(shared, [trial("nothing"), hand]);
    expect(lines).toContain("somebody writes version 3 of the document by hand");
    expect(lines).not.toContainEqual(expect.stringContaining("taken back"));
  });

  test("operators 7: goes back though the store of the document does not answer", async () => {
    const down: Fault = { kind: "document-down", at: 40_000, forMs: 60_000, answers: "silent" };
    expect(await told(shared, [trial("nothing"), down])).toContainEqual(expect.stringContaining("taken back"));
  });
});

test("operators 7: of a file that is away when its change is to be taken back the former one takes the place", async () => {
  const away: Fault = { kind: "document-away", at: 40_000, forMs: 60_000, how: "missing" };
  expect(await told(false, [trial("nothing"), away])).toContainEqual(
    expect.stringContaining("a configuration is taken back: the former one runs again"),
  );
});

test("spec 4.9.8: the start after a kill tells what another hand has replaced, and takes nothing back", async () => {
  const plan = planWith(false, [
    trial("nothing"),
    { kind: "kill", at: 25_000, forMs: 10_000 },
    { kind: "by-hand", at: 30_000, forMs: 0, change: { what: "rate", perSecond: 100 } },
  ]);
  const { violations, trace } = await runPlan(plan, true);
  expect(violations).toEqual([]);
  const said = trace.filter((line) => line.includes("another hand has replaced a configuration"));
  expect([said.length, trace.some((line) => line.includes("was taken back"))]).toEqual([1, false]);
});

test("spec 4.9.8: a start after a kill beside a file that is broken runs the former one, which takes the place when it is in order", async () => {
  const plan = planWith(false, [
    trial("nothing"),
    { kind: "kill", at: 25_000, forMs: 3_000 },
    { kind: "document-away", at: 26_000, forMs: 60_000, how: "unreadable" },
  ]);
  const { violations, trace } = await runPlan(plan, true);
  expect(violations).toEqual([]);
  expect(trace).toContainEqual(expect.stringContaining("is taken back: the former one runs again"));
  expect(trace).toContainEqual(expect.stringContaining("was taken back, and the former one is stored again"));
});

test.each([false, true])(
  "what is left of a binding that a process tried out until it died is moved by whoever reads of it, shared: %s",
  async (shared) => {
    const faults: readonly Fault[] = [
      { kind: "target-down", at: 25_000, forMs: 60_000, answers: "refuses" },
      { kind: "dlq-down", at: 25_000, forMs: 60_000, answers: "refuses" },
      {
        kind: "commit",
        at: 20_000,
        forMs: 200_000,
        commit: {
          change: { what: "bindings-renamed" },
          trial: { withinMs: 60_000, next: "nothing", afterMs: 10_000 },
        },
      },
      { kind: "kill", at: 40_000, forMs: 3_000 },
    ];
    const { violations, trace } = await runPlan(planWith(shared, faults, true), true);
    expect(violations).toEqual([]);
    expect(trace.some((line) => line.includes("records that nobody delivers"))).toBe(true);
  },
);

test.each([false, true])(
  "operators 7: what has its dead letters elsewhere while it is tried out goes back when somebody has seen to these, shared: %s",
  async (shared) => {
    const lapsing = { withinMs: 30_000, next: "nothing", afterMs: 10_000 } as const;
    const plan = planWith(shared, [
      { kind: "commit", at: 20_000, forMs: 200_000, commit: { change: { what: "dlq-moved" }, trial: lapsing } },
    ]);
    const routes = (plan.document.routes ?? []).map((route) => ({
      ...route,
      policy: { ...route.policy, on_permanent_failure: "dlq" as const },
    }));
    const { violations, trace } = await runPlan(
      {
        ...plan,
        document: { ...plan.document, routes },
        drops: false,
        messages: plan.messages.map((message) =>
          message.number >= 25 && message.number < 35 ? { ...message, poison: "FORBIDDEN" } : message,
        ),
      },
      true,
    );
    expect(violations).toEqual([]);
    expect(trace.some((line) => line.includes("is discarded"))).toBe(true);
  },
);

describe("the books of the document", () => {
  const open = () => {
    const violations: string[] = [];
    let now = 0;
    const books = new DocumentBooks({ violated: (words) => violations.push(words), now: () => now, stillMs: 0 });
    return { books, violations, pass: (ms: number) => void (now += ms) };
  };

  test("operators 7: a version that an operator was told is confirmed is not put back", () => {
    const { books, violations } = open();
    for (const version of [2, 3]) books.written(version);
    books.told(2, "confirmed");
    books.putBack(3);
    expect(violations).toEqual([]);
    books.putBack(2);
    expect(violations).toEqual(["version 2 was put back after its operator was told that it is confirmed"]);
  });

  test("what is told to be committed was stored", () => {
    const { books, violations } = open();
    books.written(2);
    books.told(2, "committed");
    books.told(3, "committed");
    expect(violations).toEqual(["version 3 is told to be committed, and was never stored"]);
  });

  test("operators 7: what a process tried out that has died goes on nowhere, unless it is tried out anew", () => {
    const { books, violations } = open();
    for (const version of [2, 3, 4]) books.tried(version, 10_000);
    books.goesOn(2, 60_000);
    books.dies(3);
    books.dies(4);
    books.given(4);
    books.goesOn(4, 60_000);
    expect(violations).toEqual([]);
    books.goesOn(3, 60_000);
    expect(violations).toEqual(["version 3 is tried out on, although the process has died that tried it out"]);
  });

  test("operators 7: the time of what is tried out is up at its end, and later for a process that goes on with it", () => {
    const { books, pass } = open();
    books.tried(2, 10_000);
    expect([books.overSince(1), books.overSince(2)]).toEqual([undefined, 10_200]);
    pass(10_000);
    books.goesOn(2, 60_000);
    expect(books.overSince(2)).toBe(71_200);
    pass(61_200 + 2 * BACK_MS);
    expect(books.mayBeTried(2)).toBe(true);
    pass(1);
    expect(books.mayBeTried(2)).toBe(false);
    books.stays(2);
    expect(books.overSince(2)).toBeUndefined();
    books.tried(3, 10_000);
    books.written(3);
    books.told(3, "confirmed");
    expect(books.overSince(3)).toBeUndefined();
  });

  test("operators 7: what a hand has put there is not tried out, also when its operator is told afterwards that it is", () => {
    const { books } = open();
    books.given(2);
    books.wanted(2);
    books.tried(2, 10_000);
    expect(books.overSince(2)).toBeUndefined();
  });
});
