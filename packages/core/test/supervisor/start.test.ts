import { type DlqStore, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { instanceIdOf } from "../../src/supervisor/create-supervisor.ts";
import { StateMachine } from "../../src/supervisor/state-machine.ts";
import type { Standing } from "../../src/supervisor/standing.ts";
import { start } from "../../src/supervisor/start.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

test("a start that a shutdown overtakes says that the bridge is shutting down, and nothing runs", async () => {
  const { supervisor } = memoryBridge({ dlq: () => new Promise<DlqStore>(() => {}) });
  const started = supervisor.start(bound());
  await expect.poll(() => supervisor.state().kind).toBe("starting");
  const ended = supervisor.shutdown();
  const error: unknown = await started.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: "conflict", message: "the bridge is shutting down" });
  expect((error as Error).cause).toBeInstanceOf(Error);
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
  await expect(supervisor.start(bound())).rejects.toMatchObject({
    message: "the bridge cannot start: the tables are of version 1",
    cause: { message: "the tables are of version 1" },
  });
  expect([supervisor.state().kind, alive.size]).toEqual(["paused", 0]);
  await supervisor.shutdown();
});

test("a bridge that becomes terminal while it starts stays so, and the start fails with why it could not", async () => {
  const state = new StateMachine(silentLogger, () => {});
  const build = (): never => {
    state.becomeTerminal("lease_lost", new Error("another holds the lease"));
    throw new Error("no parts");
  };
  const standing = { state, seams: { clock: new FakeClock() }, foundation: { build }, root: bound() };
  await expect(start(standing as unknown as Standing)).rejects.toThrow("the bridge cannot start: no parts");
  expect(state.now).toMatchObject({ kind: "terminal", cause: "lease_lost" });
});

test("a process is called as its configuration says, else by its bridge and eight characters of its own", () => {
  const { config } = memoryBridge({ instanceId: "plant-7" });
  const random = { next: () => 0, id: () => "0123456789" };
  expect(instanceIdOf(config, random)).toBe("plant-7");
  expect(instanceIdOf({ ...config, bridge: { ...config.bridge, instanceId: undefined } }, random)).toBe(
    "plant-01234567",
  );
});
