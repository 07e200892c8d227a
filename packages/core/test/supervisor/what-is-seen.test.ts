import { type Logger, silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { JobEvent } from "../../src/dlq-job/job-parts.ts";
import { begun, fill, started, until } from "../dlq-job/job-bridge.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";
import { manyRoutes } from "../support/many-routes.ts";
import { ImpatientClock } from "../support/impatient-clock.ts";
import { twoRoutes, withWindow } from "../support/two-routes.ts";

describe("operators 6.3: a tap", () => {
  test("shows what its route settles, and nothing of another one", async () => {
    const { hub, clock, supervisor } = twoRoutes();
    await supervisor.start(bound());
    using tap = supervisor.tap("q");
    const batch = tap.next(bound());
    for (const [channel, id] of [
      ["in", "of-r"],
      ["in2", "of-q"],
    ] as const) {
      hub.publish(channel, { id });
      await hub.channel(channel).waitForSettlements(1, bound());
    }
    await clock.advance(100);
    expect((await batch)?.messages.map(({ envelopeId, outcome }) => [envelopeId, outcome])).toEqual([
      ["of-q", "delivered"],
    ]);
    await supervisor.shutdown();
  });

  test("of a route that there is not is refused", () => {
    const { supervisor } = memoryBridge();
    expect(() => supervisor.tap("nowhere")).toThrow(
      expect.objectContaining({ kind: "not_found", message: "route not found" }),
    );
  });
});

describe("operators 6.4: where a message is", () => {
  test("is told while it is under way, when it has ended, and before anything runs", async () => {
    const { hub, clock, supervisor } = memoryBridge();
    const since = clock.now();
    const nowhere = { inFlight: [], ended: [], redrivenAs: [], remembers: { legs: 1_000, since } };
    expect(supervisor.whereabouts("m1")).toEqual(nowhere);
    await supervisor.start(bound());
    const held = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await hub.channel("out").until(({ sends }) => sends.held === 1, bound());
    expect(supervisor.whereabouts("m1")).toMatchObject({
      ...nowhere,
      inFlight: [{ routeId: "r", bindingId: "out", since, attempts: 1 }],
    });
    held[Symbol.dispose]();
    await hub.channel("in").waitForSettlements(1, bound());
    const ended = [{ routeId: "r", bindingId: "out", outcome: "delivered", at: since }];
    expect(supervisor.whereabouts("m1")).toEqual({ ...nowhere, ended });
    await supervisor.shutdown();
  });
});

test("a plan ends with its caller, however many routes it compares", async () => {
  const { supervisor, config } = manyRoutes(20, { clock: new ImpatientClock() });
  const gone = new Error("its caller has gone");
  await expect(supervisor.plan(withWindow(config, "r0", 7), AbortSignal.abort(gone))).rejects.toBe(gone);
});

test("how a change that is tried out gets on is told of the bridge as it is", async () => {
  const { hub, supervisor } = memoryBridge();
  const { trial } = supervisor;
  const told = () => [trial.running(), trial.reaches("full"), trial.sends(["r"])];
  expect(told()).toEqual([false, false, { sends: 0, failed: 0 }]);
  await supervisor.start(bound());
  hub.publish("in", { id: "m1" });
  await hub.channel("in").waitForSettlements(1, bound());
  expect(told()).toEqual([true, true, { sends: 1, failed: 0 }]);
  await supervisor.shutdown();
});

describe("what a job does of its own accord", () => {
  const ends = async (onJob: (event: JobEvent) => void, logger: Logger = silentLogger) => {
    const bridge = await started({ onJob, logger });
    await fill(bridge.dlq, 3);
    const { id } = await begun(bridge);
    const { state } = await until(bridge, id, "completed");
    await bridge.supervisor.shutdown();
    return { id, state };
  };

  test("is told", async () => {
    const told: unknown[] = [];
    const { id } = await ends(({ kind, job }) => void told.push([kind, job.id, job.state]));
    expect(told).toEqual([["ended", id, "completed"]]);
  });

  test("is logged when who is told of it throws, and the job ends all the same", async () => {
    const lines: unknown[] = [];
    const logger: Logger = { ...silentLogger, error: (...line) => void lines.push(line), child: () => logger };
    const fails = () => {
      throw new Error("the disk of the record is full");
    };
    expect((await ends(fails, logger)).state).toBe("completed");
    expect(lines).toEqual([["what a job does could not be told", { error: "the disk of the record is full" }]]);
  });
});

test("that a route is paused, and resumed, is in the log", async () => {
  const lines: unknown[] = [];
  const logger: Logger = { ...silentLogger, info: (...line) => void lines.push(line) };
  const { supervisor } = memoryBridge({ logger });
  supervisor.pauseRoute("r");
  supervisor.resumeRoute("r");
  expect(lines).toEqual([
    ["route paused", { route_id: "r" }],
    ["route resumed", { route_id: "r" }],
  ]);
  await supervisor.shutdown();
});
