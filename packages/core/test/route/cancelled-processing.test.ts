import { type Processor } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

/** What processors make of a signal that has aborted. */
const ANSWERS: Readonly<Record<string, (signal: AbortSignal) => Promise<never>>> = {
  "lets the signal end it": (signal) => orAborted(new Promise<never>(() => {}), signal),
  "fails in its own words": async (signal) => {
    await orAborted(new Promise(() => {}), signal).catch(() => {});
    throw new Error("terminated");
  },
  "never answers": () => new Promise(() => {}),
};

test.each(Object.entries(ANSWERS))(
  "a processor that %s when a stop cancels its message is no surprise",
  async (_manner, answer) => {
    const errors: string[] = [];
    const logger = {
      debug() {},
      info() {},
      warn() {},
      error: (message: string) => void errors.push(message),
      child: () => logger,
    };
    const begun = Promise.withResolvers<void>();
    const processor: Processor = {
      process: (_envelope, signal) => {
        begun.resolve();
        return answer(signal);
      },
    };
    const policy = { maxReplayAttempts: 1, onPermanentFailure: "drop" } as const;
    const { hub, clock, supervisor } = memoryBridge({ logger, policy, processors: [processor], quiesceTimeoutMs: 10 });
    await supervisor.start(bound());
    hub.publish("in", { id: "m1" });
    await begun.promise;
    const stopping = supervisor.stop(bound());
    await clock.advance(1_000);
    await stopping;
    expect(errors).toEqual([]);
    expect(hub.channel("in").accepted).toBe(0);
    await supervisor.shutdown();
  },
);
