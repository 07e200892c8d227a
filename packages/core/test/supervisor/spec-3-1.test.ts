import type { BridgeConfig } from "@bridge/config";
import { BridgeError, type TransportPlugin } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { SupervisorState } from "../../src/supervisor/contract.ts";
import type { HealthStatus } from "../../src/view/bridge-view.ts";
import { bound, type MemoryBridge, memoryBridge } from "../support/memory-bridge.ts";

interface Row {
  readonly state: string;
  readonly trigger: string;
  /** Brings the bridge into the state. */
  readonly given: (bridge: MemoryBridge) => Promise<unknown>;
  readonly when: (bridge: MemoryBridge) => Promise<unknown>;
  readonly next: SupervisorState["kind"];
  readonly health: HealthStatus;
  readonly cause?: string;
  /** How often a receiver has been opened, and closed that was opened or was to be. */
  readonly opened: number;
  readonly closed: number;
  readonly unclosable?: boolean;
}

const running = ({ supervisor }: MemoryBridge) => supervisor.start(bound());
const stopped = async ({ supervisor }: MemoryBridge) => {
  await supervisor.start(bound());
  await supervisor.stop(bound());
};
const swap = ({ supervisor, config }: MemoryBridge) =>
  expect(supervisor.apply(moved(config), bound())).rejects.toMatchObject({ kind: "conflict" });

const ROWS: readonly Row[] = [
  {
    state: "running",
    trigger: "admin stop",
    given: running,
    when: ({ supervisor }) => supervisor.stop(bound()),
    next: "paused",
    health: "not_running",
    opened: 1,
    closed: 1,
  },
  {
    state: "stopped",
    trigger: "admin start",
    given: stopped,
    when: ({ supervisor }) => supervisor.start(bound()),
    next: "running",
    health: "ok",
    opened: 2,
    closed: 1,
  },
  {
    state: "not running, as its start failed",
    trigger: "admin start",
    given: ({ hub, supervisor }) => {
      hub.channel("in").opens.failNext(1, new BridgeError("UNAVAILABLE", "the port is taken"));
      return supervisor.start(bound()).catch(() => {});
    },
    when: ({ supervisor }) => supervisor.start(bound()),
    next: "running",
    health: "ok",
    opened: 1,
    closed: 1,
  },
  {
    state: "running",
    trigger: "a swap whose stop fails",
    given: running,
    when: swap,
    next: "terminal",
    health: "not_running",
    cause: "wedged",
    opened: 1,
    closed: 1,
    unclosable: true,
  },
  {
    state: "running",
    trigger: "a swap that fails, and its recovery too",
    given: running,
    when: (bridge) => {
      bridge.hub.channel("moved").opens.failNext(1, new BridgeError("UNAVAILABLE", "taken"));
      bridge.hub.channel("in").opens.failNext(1, new BridgeError("UNAVAILABLE", "taken meanwhile"));
      return swap(bridge);
    },
    next: "terminal",
    health: "not_running",
    cause: "swap_failed",
    opened: 1,
    closed: 3,
  },
  {
    state: "running",
    trigger: "SIGINT or SIGTERM",
    given: running,
    when: ({ supervisor }) => supervisor.shutdown(),
    next: "shutting_down",
    health: "not_running",
    opened: 1,
    closed: 1,
  },
];

describe("spec 3.1, row by row", () => {
  test.each(ROWS)("$state, $trigger: $next", async (row) => {
    const counts = { opened: 0, closed: 0 };
    const bridge = memoryBridge({
      config: (config) => ({
        ...config,
        receivers: config.receivers.map((part) => ({ ...part, transport: "counted" })),
      }),
      transports: (memory) => [counted(memory, counts, row.unclosable === true)],
    });
    await row.given(bridge);
    await row.when(bridge);
    const { supervisor } = bridge;
    expect(supervisor.state().kind).toBe(row.next);
    expect(supervisor.view()).toMatchObject({ state: row.next, health: row.health });
    expect(counts).toEqual({ opened: row.opened, closed: row.closed });
    if (row.cause !== undefined) expect(await supervisor.terminated).toMatchObject({ cause: row.cause });
    await supervisor.shutdown().catch(() => {});
    expect(bridge.clock.pending).toBe(0);
  });
});

function moved(config: BridgeConfig): BridgeConfig {
  const receivers = config.receivers.map((part) => ({
    ...part,
    options: { ...(part.options as object), channel: "moved" },
  }));
  return { ...config, receivers };
}

/** Receivers of the memory transport that are counted as they open and close. */
function counted(
  { receiver }: TransportPlugin,
  counts: { opened: number; closed: number },
  unclosable: boolean,
): TransportPlugin {
  if (receiver === undefined) throw new Error("the memory transport has receivers");
  return {
    type: "counted",
    receiver: {
      ...receiver,
      create: (options, context) => {
        const inner = receiver.create(options, context);
        let wasTried = false;
        return {
          open: async (signal) => {
            wasTried = true;
            await inner.open?.(signal);
            counts.opened++;
          },
          receive: (signal) => inner.receive(signal),
          [Symbol.asyncDispose]: async () => {
            if (wasTried) counts.closed++;
            await inner[Symbol.asyncDispose]();
            if (unclosable) throw new Error("will not close");
          },
        };
      },
    },
  };
}
