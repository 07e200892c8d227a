import type { DlqStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

test("a start that a shutdown overtakes says that the bridge is shutting down, and nothing runs", async () => {
  const { supervisor } = memoryBridge({ dlq: () => new Promise<DlqStore>(() => {}) });
  const started = supervisor.start(bound());
  await expect.poll(() => supervisor.state().kind).toBe("starting");
  const ended = supervisor.shutdown();
  await expect(started).rejects.toMatchObject({ kind: "conflict", message: "the bridge is shutting down" });
  await ended;
  expect(supervisor.state().kind).toBe("shutting_down");
});

test("a start whose store is refused ends the parts that it has built", async () => {
  const alive = new Set<unknown>();
  const { supervisor } = memoryBridge({
    dlq: () => Promise.reject(new Error("the tables are of version 1")),
    config: (plain) => ({ ...plain, senders: plain.senders.map((part) => ({ ...part, transport: "counted" })) }),
    transports: (memory) => [
      {
        type: "counted",
        sender: {
          ...memory.sender,
          create: () => {
            const made = {
              async send() {},
              async [Symbol.asyncDispose]() {
                alive.delete(made);
              },
            };
            alive.add(made);
            return made;
          },
        },
      },
    ],
  });
  await expect(supervisor.start(bound())).rejects.toThrow("the bridge cannot start: the tables are of version 1");
  expect([supervisor.state().kind, alive.size]).toEqual(["paused", 0]);
  await supervisor.shutdown();
});
