import { expect, test } from "vitest";
import { draw, type Fault, type Plan, runPlan } from "../src/index.ts";

const SECOND: Fault = { kind: "second-process", at: 5_000, forMs: 30_000 };
const KILL: Fault = { kind: "kill", at: 12_000, forMs: 3_000 };
const FREEZE: Fault = { kind: "freeze", at: 4_000, forMs: 10_000, machine: false };
const TRIAL: Fault = {
  kind: "commit",
  at: 2_000,
  forMs: 60_000,
  commit: { change: { what: "rate", perSecond: 50 }, trial: { withinMs: 60_000, next: "nothing", afterMs: 0 } },
};

/** What is told of one instance with a file, and what comes in its way. */
async function told(isOutbox: boolean, faults: readonly Fault[], words: RegExp): Promise<readonly string[]> {
  const fits = ({ outbox, documents, broker, leases, bindings }: Plan): boolean =>
    (isOutbox ? outbox?.shared === false && documents === undefined : outbox === undefined) &&
    (isOutbox || documents?.shared === false) &&
    broker.resumes !== true &&
    leases === undefined &&
    bindings.length === 1;
  let seed = 1;
  while (!fits(draw(seed))) seed++;
  const target = { latencyMs: 10, refuses: 0, loses: 0, silent: 0, slow: 0 };
  const messages = Array.from({ length: 60 }, (_, number) => ({ number, at: number * 1_000 }));
  const plan: Plan = { ...draw(seed), messages, target, faults, calmAt: 70_000 };
  const { violations, trace } = await runPlan(plan, true);
  expect(violations).toEqual([]);
  return trace.flatMap((line) => /^[\d.]+ (.*)\n$/.exec(line)?.[1] ?? []).filter((line) => words.test(line));
}

const USE = /instance-\d+ (begins|ends|is killed)/;

test("a second process on a file that is an outbox ends as long as the first one lives, also when that stands still", async () => {
  const lines = await told(true, [FREEZE, { ...SECOND, forMs: 5_000 }], USE);
  expect(lines.slice(0, 3)).toEqual([
    "instance-0 begins",
    "instance-1 begins",
    "instance-1 ends, as its outbox is in use",
  ]);
  expect(lines.filter((line) => line.startsWith("instance-0"))).toHaveLength(2);
});

test("when the first process dies the second one has its outbox, and the next one ends until that has ended", async () => {
  const lines = await told(true, [SECOND, KILL], /in use|is asked to end/);
  const asked = lines.findIndex((line) => line.endsWith("is asked to end"));
  const ended = lines.map((line) => line.split(" ")[0]);
  expect(new Set(ended.slice(0, asked)).size).toBeGreaterThan(1);
  expect(ended.slice(0, asked)).not.toContain("instance-0");
  expect(ended.slice(asked + 1)).not.toContain(ended[asked]);
});

test("operators 7: a second process on a document leaves what is tried out to the first one, and takes it back when that has died", async () => {
  const words = /in another process|taken back/;
  expect(await told(false, [TRIAL, { ...SECOND, forMs: 50_000 }], words)).toEqual([
    expect.stringContaining("instance-1 warn: what is stored is on probation in another process"),
    expect.stringContaining("instance-0 error: a configuration was taken back"),
  ]);
  const died = await told(false, [TRIAL, SECOND, { ...KILL, forMs: 40_000 }], words);
  expect(died).toContainEqual(expect.stringContaining("instance-1 error: a configuration was taken back"));
});
