import { expect, test } from "vitest";
import { runPhases, StopError, type StopPhase } from "../../src/runtime/stop-phases.ts";
import { HastyClock } from "../support/hasty-clock.ts";

const refuses = () => Promise.reject(new Error("refuses to close"));
const endless = () => new Promise<never>(() => {});
const at = (...names: readonly string[]): Pick<StopPhase, "running"> => ({ running: () => names });

test.each([
  { phase: { run: refuses }, error: "refuses to close" },
  // It has failed by itself: what else is at work has not kept it.
  { phase: { run: refuses, ...at("receiver in") }, error: "refuses to close" },
  { phase: { run: endless }, error: "still running at the deadline" },
  { phase: { run: endless, ...at() }, error: "still running at the deadline" },
  { phase: { run: endless, ...at("in", "out") }, error: "still running at the deadline: in, out" },
])("spec 3.3: a stop error says why a phase failed, and at its ceiling what was at work: $error", async (given) => {
  const phases: readonly StopPhase[] = [
    { name: "well", ceilingMs: 1, run: async () => {} },
    { name: "phase", ceilingMs: 1, ...given.phase },
  ];
  const ended: string[] = [];
  const failures = await runPhases(new HastyClock(), phases, ({ name }) => void ended.push(name));
  expect(failures).toMatchObject([{ phase: "phase", error: { message: given.error } }]);
  expect(ended).toEqual(["well", "phase"]);
  expect(new StopError(failures)).toMatchObject({
    message: `the stop failed in: phase (${given.error})`,
    phases: ["phase"],
    errors: [{ message: given.error }],
  });
});
