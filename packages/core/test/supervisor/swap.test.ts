import { describe, expect, test } from "vitest";
import type { Stranding } from "@bridge/config";
import { silentLogger } from "@bridge/ports";
import { NO_PARTS } from "../../src/runtime/runtime-parts.ts";
import { StopError } from "../../src/runtime/stop-phases.ts";
import { DepartureNote } from "../../src/supervisor/departure-note.ts";
import { swap, type SwapOptions } from "../../src/supervisor/swap.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

const { config: from } = memoryBridge();
const to = { ...from, configVersion: from.configVersion + 1 };
const stuck = new StopError([{ phase: "sender out", error: new Error("will not close") }]);
const taken = new Error("the port is taken");

interface Course {
  readonly retire?: () => Promise<void>;
  /** Of the new parts, and then of the old ones. */
  readonly adopt?: () => Promise<void>;
  readonly rebuild?: () => Promise<void>;
  readonly stranding?: (signal: AbortSignal) => Promise<Stranding | undefined>;
}

/** A swap whose steps come to what a test says. */
function swapping(course: Course = {}, signal = bound()) {
  const [steps, root] = [[] as string[], new AbortController()];
  const step = (name: string, does?: () => Promise<void>) => async (): Promise<void> => {
    steps.push(name);
    await does?.();
  };
  const of = ({ configVersion }: { configVersion: number }) => (configVersion === to.configVersion ? "new" : "old");
  const options = {
    runtime: {
      parts: NO_PARTS,
      running: true,
      retire: step("retire", course.retire),
      adopt: step("adopt", course.adopt),
    },
    foundation: {
      stranding: async (_: unknown, asking: AbortSignal) => course.stranding?.(asking),
      open: async (config: typeof to) => void steps.push(`open ${of(config)}`),
      reopen: async (config: typeof to) => void steps.push(`reopen ${of(config)}`),
      starting: () => {},
    },
    departure: new DepartureNote(undefined, { clock: new FakeClock(), logger: silentLogger }, from),
    from,
    to,
    parts: NO_PARTS,
    rebuild: async () => {
      await step("rebuild", course.rebuild)();
      return { ...NO_PARTS };
    },
    root: root.signal,
  } as unknown as SwapOptions;
  return { swap: () => swap(options, signal), steps, root };
}

describe("spec 3.1: a swap", () => {
  test("stops the old before it opens the new", async () => {
    const { swap: run, steps } = swapping();
    expect([await run(), steps]).toEqual([{ kind: "applied" }, ["retire", "open new", "adopt"]]);
  });

  test("that cannot open the new builds and opens the old again", async () => {
    let tries = 0;
    const { swap: run, steps } = swapping({ adopt: () => (tries++ === 0 ? Promise.reject(taken) : Promise.resolve()) });
    expect(await run()).toEqual({ kind: "undone", error: taken });
    expect(steps).toEqual(["retire", "open new", "adopt", "rebuild", "reopen old", "adopt"]);
  });

  test("that would leave messages behind opens nothing of the new", async () => {
    const { swap: run, steps } = swapping({ stranding: async () => ({ stranded: [], message: "1 in the outbox" }) });
    expect(await run()).toMatchObject({ kind: "undone", error: { kind: "stranding", message: "1 in the outbox" } });
    expect(steps).toEqual(["retire", "rebuild", "reopen old", "adopt"]);
  });

  test("whose caller gives up while its stores are asked opens the old again", async () => {
    const caller = new AbortController();
    const gone = new Error("its caller has gone");
    const { swap: run } = swapping(
      {
        stranding: (asking) => {
          caller.abort(gone);
          return asking.aborted ? Promise.reject(asking.reason as Error) : new Promise(() => {});
        },
      },
      caller.signal,
    );
    expect(await run()).toEqual({ kind: "undone", error: gone });
  });

  test("that can open neither is the end, and tells why of both", async () => {
    const again = new Error("taken meanwhile");
    const { swap: run } = swapping({ adopt: () => Promise.reject(taken), rebuild: () => Promise.reject(again) });
    expect(await run()).toMatchObject({
      kind: "terminal",
      cause: "swap_failed",
      error: {
        message: "the port is taken, and the former configuration cannot be applied again: taken meanwhile",
        errors: [taken, again],
      },
    });
  });

  test.each([
    ["the old does not stop", { retire: () => Promise.reject(stuck) }, ["retire"]],
    [
      "what was opened of the new does not stop",
      { adopt: () => Promise.reject(stuck) },
      ["retire", "open new", "adopt"],
    ],
  ])("when %s there is nothing to go on with: the bridge is wedged", async (_, course, done) => {
    const { swap: run, steps } = swapping(course);
    expect([await run(), steps]).toEqual([{ kind: "terminal", cause: "wedged", error: stuck }, done]);
  });

  test.each([
    ["the old stops", ["retire"], ["retire"]],
    ["the new is opened", ["adopt"], ["retire", "open new", "adopt"]],
    ["the old is built again", ["rebuild"], ["retire", "open new", "adopt", "rebuild"]],
  ] as const)("a shutdown that comes while %s ends it: nothing starts any more", async (_, [last], done) => {
    const end = (name: string) => () => {
      if (name === last) root.abort(new Error("the bridge is shutting down"));
      return Promise.reject(taken);
    };
    const course = {
      ...(last === "retire" && { retire: end("retire") }),
      adopt: end("adopt"),
      rebuild: end("rebuild"),
    };
    const { swap: run, steps, root } = swapping(course);
    expect([await run(), steps]).toEqual([{ kind: "ending" }, done]);
  });
});

test("a rate limit that comes with a route holds from its first message on", async () => {
  const { config, hub, supervisor } = memoryBridge();
  const [route] = config.routes;
  if (route === undefined) throw new Error("there is one route");
  await supervisor.apply({ ...config, routes: [] }, bound());
  await supervisor.start(bound());
  for (const id of ["m1", "m2", "m3"]) hub.publish("in", { id });
  const limited = { ...route, rateLimit: { messagesPerSecond: 1, burst: 1 } };
  expect(await supervisor.apply({ ...config, routes: [limited] }, bound())).toBe("applied");
  for (let turns = 0; turns < 20; turns++) await turn();
  expect(hub.channel("out").arrived).toBe(1);
  await supervisor.shutdown();
});
