import type { Sender, TransportPlugin } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { bound, memoryBridge, type MemoryBridge, type MemoryBridgeOptions, outage } from "../support/memory-bridge.ts";

const BACKOFF = { initialIntervalMs: 10, maxIntervalMs: 10, multiplier: 1, jitter: 0 };

/** A bridge whose sender refuses the first `failures` sends, and keeps what the engine said which attempt each was. */
function counting(failures: number, options: MemoryBridgeOptions): { bridge: MemoryBridge; attempts: unknown[] } {
  const attempts: unknown[] = [];
  const sender: Sender = {
    async send(_envelope, _address, _signal, attempt) {
      if (attempts.push(attempt) <= failures) throw outage;
    },
    async [Symbol.asyncDispose]() {},
  };
  const bridge = memoryBridge({
    ...options,
    policy: { maxReplayAttempts: 5, backoff: BACKOFF },
    transports: (memory): readonly TransportPlugin[] => [
      { type: "counting", sender: { ...memory.sender, create: () => sender } },
    ],
    config: (config) => ({ ...config, senders: config.senders.map((one) => ({ ...one, transport: "counting" })) }),
  });
  return { bridge, attempts };
}

async function sent({ bridge, attempts }: ReturnType<typeof counting>, count: number): Promise<readonly unknown[]> {
  await bridge.supervisor.start(bound());
  bridge.hub.publish("in", { id: "m1", payload: "a" });
  for (let turns = 0; attempts.length < count; turns++) {
    if (turns > 10_000) throw new Error(`${attempts.length} sends of ${count}`);
    await bridge.clock.advance(5);
  }
  await bridge.supervisor.shutdown();
  return attempts;
}

describe("a sender is told which attempt of a message it makes, counted as the cap counts", () => {
  test.each([
    ["held until it is delivered", { deliveryMode: "direct_hold" }],
    ["kept in an outbox", { deliveryMode: "shared_outbox" }],
    ["given back to a source that counts", { counts: true, releasable: true }],
    ["given back to a source that does not count", { releasable: true }],
  ] as const)("%s", async (_, options) => {
    expect(await sent(counting(3, options), 4)).toEqual([1, 2, 3, 4]);
  });

  test("the first one of a message that its source has handed out before", async () => {
    const { bridge, attempts } = counting(0, { counts: true });
    const channel = bridge.hub.channel("in");
    const hold = channel.settles.hold();
    await sent({ bridge, attempts }, 1);
    hold[Symbol.dispose]();
    expect(attempts).toEqual([1]);
    const again = counting(0, { counts: true, hub: bridge.hub });
    await again.bridge.supervisor.start(bound());
    for (let turns = 0; again.attempts.length < 1 && turns < 10_000; turns++) await again.bridge.clock.advance(5);
    await again.bridge.supervisor.shutdown();
    expect(again.attempts).toEqual([2]);
  });
});
