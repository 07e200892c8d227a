import { BridgeError, type Logger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { bound, memoryBridge, refusal } from "../support/memory-bridge.ts";

function fails(): never {
  throw new Error("the disk of the log is full");
}

const LOGGERS: Readonly<Record<string, Logger>> = {
  "in each call": { debug: fails, info: fails, warn: fails, error: fails, child: fails },
  "in each line": { debug: fails, info: fails, warn: fails, error: fails, child: () => LOGGERS["in each line"]! },
};

describe.each(Object.entries(LOGGERS))("a logger that throws %s", (_name, logger) => {
  test("a bridge starts, delivers, dead-letters, pauses and stops with it", async () => {
    const bridge = memoryBridge({ logger, policy: { maxReplayAttempts: 1 } });
    const { hub, supervisor } = bridge;
    await supervisor.start(bound());
    hub.publish("in", { payload: "one" });
    await hub.channel("in").waitForSettlements(1, bound());
    hub.channel("out").sends.failNext(1, refusal);
    hub.publish("in", { payload: "two" });
    await hub.channel("in").waitForSettlements(2, bound());
    supervisor.pauseRoute("r");
    supervisor.resumeRoute("r");
    expect(await bridge.dlq.count(10, bound())).toBe(1);
    expect(supervisor.view()).toMatchObject({ health: "ok", failures: [] });
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.stop(bound());
    await supervisor.shutdown();
  });

  test("a store that does not open is tried until it does", async () => {
    let tries = 0;
    const whole = memoryBridge();
    await whole.supervisor.start(bound());
    const dlq = async () => {
      if (++tries < 3) throw new BridgeError("CONNECTION_LOST", "its service is away");
      return whole.dlq;
    };
    const { supervisor, clock } = memoryBridge({ logger, dlq });
    const started = supervisor.start(bound()).catch((error: unknown) => error);
    for (let turns = 0; turns < 100; turns++) await clock.advance(500);
    await started;
    expect(tries).toBe(3);
    await supervisor.shutdown();
    await whole.supervisor.shutdown();
  });
});
