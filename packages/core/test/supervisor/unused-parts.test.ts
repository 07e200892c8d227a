import type { TransportPlugin } from "@bridge/ports";
import { expect, test } from "vitest";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

/** Counts the receivers that were built and have not been ended, and calls `onEnd` with each end. */
function counting(memory: TransportPlugin, alive: Set<unknown>, onEnd: () => void): TransportPlugin {
  const { receiver } = memory;
  return {
    ...memory,
    type: "counting",
    receiver: {
      ...receiver!,
      create(options, context) {
        const built = receiver!.create(options, context);
        const end = built[Symbol.asyncDispose].bind(built);
        alive.add(built);
        return Object.assign(built, {
          [Symbol.asyncDispose]() {
            alive.delete(built);
            onEnd();
            return end();
          },
        });
      },
    },
  };
}

test("what was built for a change that is given up half-way is ended, and what ran is built again", async () => {
  const alive = new Set<unknown>();
  const given = new AbortController();
  const { supervisor, config } = memoryBridge({
    transports: (memory) => [counting(memory, alive, () => given.abort(new Error("given up")))],
    config: (plain) => ({
      ...plain,
      receivers: plain.receivers.map((part) => ({ ...part, transport: "counting" })),
    }),
  });
  await supervisor.start(bound());
  const before = alive.size;
  const receivers = config.receivers.map((part) => ({
    ...part,
    options: { ...(part.options as object), changed: true },
  }));
  const changed = { ...config, configVersion: 2, receivers };
  await expect(supervisor.apply(changed, given.signal)).rejects.toThrow("given up");
  expect(alive.size).toBe(before);
  await supervisor.shutdown();
  expect(alive.size).toBe(0);
});
