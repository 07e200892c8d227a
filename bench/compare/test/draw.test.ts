import { expect, test } from "vitest";
import { draw, REFUSALS } from "../src/draw.ts";

const SCENARIOS = Array.from({ length: 300 }, (_, index) => draw(`test/${index}`));

test("a seed is a scenario", () => {
  expect(draw("test/7")).toEqual(SCENARIOS[7]);
});

test("among 300 there is each kind of source, target, store, mode and trouble", () => {
  const all = (of: (scenario: (typeof SCENARIOS)[number]) => readonly (string | number)[]): ReadonlySet<unknown> =>
    new Set(SCENARIOS.flatMap((scenario) => of(scenario)));
  expect(all(({ source, retry, store, mode }) => [source, retry, store, mode])).toEqual(
    new Set(["amqp", "mqtt", "hold", "requeue", "file", "postgres", "direct_hold", "shared_outbox"]),
  );
  expect(all(({ targets }) => [targets.length, ...targets])).toEqual(new Set([1, 2, "amqp", "http", "mqtt"]));
  expect(all(({ troubles }) => troubles.map(({ kind }) => kind))).toEqual(
    new Set([
      "broker_restart",
      "freeze",
      "kill",
      "source_cut",
      "source_down",
      "stop",
      "store_restart",
      "target_cut",
      "target_down",
    ]),
  );
});

test("nothing uses up attempts but a target that refuses for a time, so that where a message ends is no matter of chance", () => {
  for (const { targets, messages, troubles, attempts } of SCENARIOS) {
    const forATime = messages.some(({ refused }) =>
      refused.some(
        (code, index) => code !== undefined && !REFUSALS[targets[index] ?? "http"].some((known) => known === code),
      ),
    );
    const atTargets = troubles.some(({ kind }) => kind.startsWith("target_") || kind === "broker_restart");
    expect(forATime && atTargets).toBe(false);
    expect(attempts).toBeGreaterThan(troubles.length + 1);
  }
});
