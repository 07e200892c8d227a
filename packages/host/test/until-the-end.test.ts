import { createAuditor } from "@bridge/audit";
import { emptyConfig } from "@bridge/config";
import type { Supervisor, SupervisorState, TerminalCause } from "@bridge/core";
import { type Logger, silentLogger, systemClock } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { untilTheEnd } from "../src/until-the-end.ts";

/** A bridge in a state that no configuration of today can bring about; it counts how often it is shut down. */
class Doomed implements Pick<Supervisor, "terminated" | "config" | "shutdown"> {
  readonly terminated: Supervisor["terminated"];
  readonly #lingerMs: number;
  shutdowns = 0;

  constructor(cause: TerminalCause | undefined, lingerMs: number) {
    const state = { kind: "terminal", cause: cause ?? "wedged", error: new Error("lost") } as const;
    this.terminated =
      cause === undefined
        ? Promise.withResolvers<SupervisorState & { kind: "terminal" }>().promise
        : Promise.resolve(state);
    this.#lingerMs = lingerMs;
  }

  config() {
    const config = emptyConfig();
    return { ...config, bridge: { ...config.bridge, terminalLingerMs: this.#lingerMs } };
  }

  async shutdown() {
    this.shutdowns++;
  }
}

const NEVER_ASKED = Promise.withResolvers<NodeJS.Signals>().promise;
const FOREVER_MS = 2 ** 30;

function end(supervisor: Doomed, asked: Promise<NodeJS.Signals> = NEVER_ASKED, logger: Logger = silentLogger) {
  const auditor = createAuditor({ clock: systemClock, logger: silentLogger });
  return untilTheEnd({ supervisor: supervisor as unknown as Supervisor, auditor, servers: undefined }, asked, {
    clock: systemClock,
    logger,
  });
}

describe("contract 7: the end of a process", () => {
  test("terminal by a lost lease: at once, without lingering or stopping anything", async () => {
    const supervisor = new Doomed("lease_lost", FOREVER_MS);
    expect(await end(supervisor)).toBe("terminal");
    expect(supervisor.shutdowns).toBe(0);
  });

  test("terminal by a wedge: after terminal_linger, with everything closed that can be", async () => {
    const supervisor = new Doomed("wedged", 20);
    expect(await end(supervisor)).toBe("terminal");
    expect(supervisor.shutdowns).toBe(1);
  });

  test.each([
    ["wedged", "everything is closed after a failure"],
    [undefined, "stopped cleanly"],
  ] as const)("the last line of one that is %s", async (cause, last) => {
    const lines: string[] = [];
    const logger: Logger = { ...silentLogger, info: (message) => void lines.push(message) };
    await end(new Doomed(cause, 0), cause === undefined ? Promise.resolve("SIGTERM") : NEVER_ASKED, logger);
    expect(lines.at(-1)).toBe(last);
  });

  test("a signal cuts the lingering short, and the end stays terminal", async () => {
    const asked = Promise.withResolvers<NodeJS.Signals>();
    const ending = end(new Doomed("wedged", FOREVER_MS), asked.promise);
    setImmediate(() => asked.resolve("SIGTERM"));
    expect(await ending).toBe("terminal");
  });

  test("asked by a signal: stopped", async () => {
    const supervisor = new Doomed(undefined, 0);
    expect(await end(supervisor, Promise.resolve("SIGINT"))).toBe("stopped");
    expect(supervisor.shutdowns).toBe(1);
  });
});
