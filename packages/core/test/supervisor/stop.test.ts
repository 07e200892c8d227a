import { silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import type { JobOwner } from "../../src/dlq-job/job-owner.ts";
import { StopError } from "../../src/runtime/stop-phases.ts";
import type { Operations } from "../../src/supervisor/operations.ts";
import { StateMachine } from "../../src/supervisor/state-machine.ts";
import type { Standing } from "../../src/supervisor/standing.ts";
import { close, stop } from "../../src/supervisor/stop.ts";
import { memoryBridge } from "../support/memory-bridge.ts";
import { BoundingClock } from "../support/bounding-clock.ts";

/** The end of a bridge whose runtime and jobs end as a test says. */
function closing({ runtime = async () => {}, jobs = async () => {}, store = async () => {} } = {}) {
  const [clock, steps] = [new BoundingClock(), [] as string[]];
  const standing = {
    seams: { clock },
    runtime: { stop: runtime },
    foundation: {
      hooks: { end: async () => void steps.push("hooks") },
      stores: {
        closes: () => [
          {
            name: "store dlq",
            ceilingMs: 1_000,
            run: async () => {
              steps.push("stores");
              await store();
            },
          },
        ],
      },
    },
  } as unknown as Standing;
  const owner = { leave: jobs, cut: () => void steps.push("cut") } as unknown as JobOwner;
  const operations = { settle: async () => void steps.push("redrives") } as unknown as Operations;
  return { clock, steps, closed: close(standing, owner, operations) };
}

const ALL = ["cut", "redrives", "hooks", "stores"];

test("a bridge ends its jobs and redrives when its runtime has stopped, then its hooks, and its stores last", async () => {
  const { closed, steps } = closing();
  await closed;
  expect(steps).toEqual(ALL);
});

test("each phase that fails is named, with why, and keeps none of the others from its end", async () => {
  const stuck = new StopError([
    { phase: "sender out", error: new Error("will not close") },
    { phase: "receiver in", error: new Error("hangs") },
  ]);
  const { closed, steps } = closing({
    runtime: () => Promise.reject(stuck),
    jobs: () => Promise.reject(new Error("no such table")),
    store: () => Promise.reject(new Error("busy")),
  });
  await expect(closed).rejects.toMatchObject({
    phases: ["sender out", "receiver in", "jobs", "store dlq"],
    message:
      "the stop failed in: sender out (will not close), receiver in (hangs), jobs (no such table), store dlq (busy)",
  });
  expect(steps).toEqual(ALL);
});

test("whatever else a runtime fails with at its stop is named as its own, and the stores are closed", async () => {
  const { closed, steps } = closing({ runtime: () => Promise.reject(new TypeError("a defect")) });
  await expect(closed).rejects.toMatchObject({
    phases: ["runtime"],
    message: "the stop failed in: runtime (a defect)",
  });
  expect(steps).toEqual(ALL);
});

test("jobs have 3 s for what their store has been asked for, are given up after 5 s when they cannot be written, and named", async () => {
  const { closed, steps, clock } = closing({ jobs: () => new Promise(() => {}) });
  await clock.advance(2_999);
  expect(steps).toEqual([]);
  await clock.advance(2_000);
  expect(steps).toEqual(["cut"]);
  await Promise.all([
    expect(closed).rejects.toThrow("the stop failed in: jobs (the jobs could not be written in time)"),
    clock.advance(1),
  ]);
  expect(steps).toEqual(ALL);
});

/** A running bridge whose runtime stops as a test says. */
function running(runtime: (state: StateMachine) => Promise<void>) {
  const state = new StateMachine(silentLogger, () => {});
  state.enter({ kind: "starting" });
  state.enter({ kind: "running" });
  return { state, stopped: stop({ state, runtime: { stop: () => runtime(state) } } as unknown as Standing) };
}

test("a bridge that has never started is stopped at once", async () => {
  const { supervisor } = memoryBridge();
  await supervisor.stop();
  expect(supervisor.state().kind).toBe("unwired");
  await supervisor.shutdown();
});

test("a bridge that could not be stopped is paused, and says why", async () => {
  const error = new Error("sender out will not close");
  const { state, stopped } = running(() => Promise.reject(error));
  expect(state.now).toEqual({ kind: "stopping", phases: [] });
  await expect(stopped).rejects.toBe(error);
  expect(state.now).toEqual({ kind: "paused", error });
});

test("a bridge that becomes terminal while it stops stays so, and is stopped", async () => {
  const { state, stopped } = running(async (of) => of.becomeTerminal("lease_lost", new Error("another holds it")));
  await stopped;
  expect(state.now).toMatchObject({ kind: "terminal", cause: "lease_lost" });
});
