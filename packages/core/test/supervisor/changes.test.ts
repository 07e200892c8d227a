import { type OutboxBacklog, type OutboxStore, type TransportPlugin, silentLogger, systemRandom } from "@bridge/ports";
import { openMemoryOutbox } from "@bridge/memory";
import type { BridgeConfig, Stranding } from "@bridge/config";
import { describe, expect, test } from "vitest";
import { NO_PARTS } from "../../src/runtime/runtime-parts.ts";
import { DepartureNote } from "../../src/supervisor/departure-note.ts";
import { Changes } from "../../src/supervisor/changes.ts";
import type { Standing } from "../../src/supervisor/standing.ts";
import { StateMachine } from "../../src/supervisor/state-machine.ts";
import { StopsWaiting } from "../../src/supervisor/stops-waiting.ts";
import { Veils } from "../../src/veils.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { ImpatientClock } from "../support/impatient-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";
import { withAttempts } from "../support/two-routes.ts";

const { config } = memoryBridge();
const next = withAttempts(config, "r", 9);

/**
 * Changes of a bridge that runs, whose stores are asked what would be left behind with `stranding`; `adopted`: all of a change is at work.
 */
function changing(
  stranding: (state: StateMachine) => Stranding | undefined,
  former: BridgeConfig = config,
  adopted: (state: StateMachine) => void = () => {},
) {
  const [state, veils] = [new StateMachine(silentLogger, () => {}), new Veils()];
  state.enter({ kind: "starting" });
  state.enter({ kind: "running" });
  let asked = 0;
  const seams = { clock: new FakeClock(), logger: silentLogger };
  const standing = {
    seams,
    departure: new DepartureNote(undefined, seams, former),
    state,
    root: new AbortController().signal,
    config: former,
    carried: former,
    runtime: { parts: NO_PARTS, running: true, retire: async () => {}, adopt: async () => adopted(state) },
    foundation: {
      *build() {
        yield;
        return NO_PARTS;
      },
      follow: () => {},
      stranding: async () => (asked++, stranding(state)),
      open: async () => {},
      starting: () => {},
      leaveSessions: async () => {},
    },
  } as unknown as Standing;
  return {
    standing,
    changes: new Changes({ standing, veils, stops: new StopsWaiting(), onConfig: () => {} }),
    state,
    veils,
    asked: () => asked,
  };
}

const lost = new Error("the lease is another's");
const beyond = { kind: "conflict", message: "the bridge is beyond recovery: the lease is another's" };
const left = { stranded: [], message: "1 in the outbox" } as unknown as Stranding;

describe("a change of a bridge that is beyond recovery", () => {
  test("is refused for that, also one that would leave messages behind: no store is asked", async () => {
    const { changes, state, asked } = changing(() => left);
    state.becomeTerminal("lease_lost", lost);
    await expect(changes.apply(next, bound())).rejects.toMatchObject(beyond);
    expect(asked()).toBe(0);
  });

  test("is refused also when that came while its stores were asked", async () => {
    const { changes } = changing((state) => {
      state.becomeTerminal("lease_lost", lost);
      return undefined;
    });
    await expect(changes.apply(next, bound())).rejects.toMatchObject(beyond);
  });

  test("is told as applied when that came once all of it was at work: its stores may hold messages", async () => {
    const { changes, state, standing } = changing(
      () => undefined,
      config,
      (machine) => machine.becomeTerminal("lease_lost", lost),
    );
    expect(await changes.apply(next, bound())).toBe("applied");
    expect(standing.carried).toBe(next);
    expect(state.now).toMatchObject({ kind: "terminal", cause: "lease_lost" });
  });
});

test("what came in by references stays veiled for the configuration in force, however many others are refused, and for those", async () => {
  const { changes, veils } = changing(() => left, { ...config, veils: ["in-force.example"] });
  for (let nth = 0; nth < 10; nth++) {
    const refused = { ...next, veils: [`refused-${nth}.example`] };
    await expect(changes.apply(refused, bound())).rejects.toMatchObject({ kind: "stranding" });
  }
  expect(veils.over("in-force.example, refused-9.example")).toBe("[REDACTED], [REDACTED]");
});

test("what applies in place is no swap: the bridge runs all the while", async () => {
  const states: unknown[] = [];
  const info = (line: string, fields: object = {}) => void (line === "bridge state" && states.push(fields));
  const logger = { ...silentLogger, info, child: () => logger };
  const { supervisor, config: plain } = memoryBridge({ logger });
  await supervisor.start(bound());
  states.length = 0;
  const level: BridgeConfig = { ...plain, bridge: { ...plain.bridge, logLevel: "debug" } };
  expect(await supervisor.apply(level, bound())).toBe("applied");
  expect(states).toEqual([]);
  expect(await supervisor.apply(withAttempts(level, "r", 9), bound())).toBe("applied");
  expect(states).toEqual([
    { from: "running", to: "swapping" },
    { from: "swapping", to: "running" },
  ]);
  await supervisor.shutdown();
});

describe("a change whose outbox does not answer what would be left behind", () => {
  async function silent() {
    const clock = new FakeClock();
    const inner = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
    const asked = Promise.withResolvers<void>();
    let hangs = false;
    const backlog: OutboxStore["backlog"] = (signal) => {
      if (!hangs) return inner.backlog(signal);
      asked.resolve();
      return new Promise<readonly OutboxBacklog[]>(() => {});
    };
    const bridge = memoryBridge({ clock, deliveryMode: "shared_outbox", outbox: { ...inner, backlog } });
    await bridge.supervisor.start(bound());
    hangs = true;
    const caller = new AbortController();
    const applied = bridge.supervisor.apply({ ...bridge.config, routes: [] }, caller.signal);
    await asked.promise;
    return { ...bridge, caller, applied, answers: () => void (hangs = false) };
  }

  test("ends with its caller", async () => {
    const { supervisor, caller, applied } = await silent();
    const gone = new Error("its caller has gone");
    caller.abort(gone);
    await expect(applied).rejects.toBe(gone);
    expect(supervisor.state().kind).toBe("running");
    await supervisor.shutdown();
  });

  test("gives way to a stop, and has its turn after that", async () => {
    const { supervisor, applied, answers } = await silent();
    answers();
    await supervisor.stop(bound());
    expect(supervisor.state().kind).toBe("paused");
    expect(await applied).toBe("accepted");
    expect(supervisor.config().routes).toEqual([]);
    await supervisor.shutdown();
  });

  test("ends with the process", async () => {
    const { supervisor, applied } = await silent();
    await Promise.all([expect(applied).rejects.toThrow("the bridge is shutting down"), supervisor.shutdown()]);
  });
});

/** Receivers that are watched as they are made and ended. */
function watched({ receiver, ...memory }: TransportPlugin, alive: Set<unknown>, onMade: () => void): TransportPlugin {
  return {
    ...memory,
    type: "watched",
    receiver: {
      ...receiver!,
      create(options, context) {
        const made = receiver!.create(options, context);
        const end = made[Symbol.asyncDispose].bind(made);
        alive.add(made);
        onMade();
        return Object.assign(made, {
          [Symbol.asyncDispose]() {
            alive.delete(made);
            return end();
          },
        });
      },
    },
  };
}

describe("a shutdown that comes while a change is built", () => {
  test.each([
    ["between two of its slices", () => new ImpatientClock()],
    ["with its last part", () => new FakeClock()],
  ])("%s has it accepted for no start, and ends what was built", async (_, clock) => {
    const alive = new Set<unknown>();
    let [isChanged, before] = [false, 0];
    const bridge = memoryBridge({
      clock: clock(),
      transports: (memory) => [
        watched(memory, alive, () => {
          if (isChanged) ended.push(bridge.supervisor.shutdown());
        }),
      ],
      config: (plain) => ({
        ...plain,
        receivers: plain.receivers.map((part) => ({ ...part, transport: "watched" })),
      }),
    });
    const ended: Promise<void>[] = [];
    const { supervisor } = bridge;
    await supervisor.start(bound());
    before = alive.size;
    isChanged = true;
    const receivers = bridge.config.receivers.map((part) => ({
      ...part,
      options: { ...(part.options as object), channel: "other" },
    }));
    expect(await supervisor.apply({ ...bridge.config, receivers }, bound())).toBe("accepted");
    await Promise.all(ended);
    expect([before, ended.length, alive.size]).toEqual([1, 1, 0]);
  });
});
