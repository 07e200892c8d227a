import { silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { StateMachine } from "../../src/supervisor/state-machine.ts";

test("a state that may not follow is refused, and nobody is told of it", () => {
  const told: unknown[] = [];
  const state = new StateMachine(silentLogger, (from, to) => void told.push([from, to.kind]));
  state.enter({ kind: "starting" });
  expect(() => state.enter({ kind: "swapping" })).toThrow("a bridge that is starting cannot become swapping");
  expect([state.now.kind, told]).toEqual(["starting", [["unwired", "starting"]]]);
});

test("the first cause of its end is the cause, and a process that ends already needs none", async () => {
  const state = new StateMachine(silentLogger, () => {});
  const [first, second] = [new Error("first"), new Error("second")];
  state.becomeTerminal("lease_lost", first);
  state.becomeTerminal("wedged", second);
  expect(await state.terminated).toEqual({ kind: "terminal", cause: "lease_lost", error: first });
  const message = "the bridge is beyond recovery: first";
  expect(() => state.refuseWhenTerminal()).toThrow(
    expect.objectContaining({ kind: "conflict", message, cause: first }),
  );

  const ending = new StateMachine(silentLogger, () => {});
  ending.enter({ kind: "shutting_down" });
  ending.becomeTerminal("wedged", second);
  expect(ending.now.kind).toBe("shutting_down");
});
