import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { turn } from "../support/fake-clock.ts";
import { ImpatientClock } from "../support/impatient-clock.ts";
import { bound, type MemoryBridgeOptions } from "../support/memory-bridge.ts";
import { runtimeOf } from "../support/runtime-of.ts";

interface Opened {
  open(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A bridge whose receiver is as `receiver` says. */
function opening(receiver: Opened): MemoryBridgeOptions {
  return {
    config: (config) => ({
      ...config,
      receivers: config.receivers.map((part) => ({ ...part, transport: "opened" })),
    }),
    transports: (memory) => [
      {
        type: "opened",
        receiver: { ...memory.receiver!, create: () => ({ async *receive() {}, ...receiver }) },
      },
    ],
  };
}

/** A runtime at work without routes, and the parts of another configuration, whose receiver is as `receiver` says. */
async function changing(receiver: Opened) {
  const { runtime } = runtimeOf({ empty: true });
  await runtime.start(bound());
  return { runtime, next: runtimeOf(opening(receiver)).runtime.parts };
}

test("a runtime that is stopped while parts are opened closes them before the change is refused, and starts none", async () => {
  const open = Promise.withResolvers<void>();
  let closed = 0;
  const { runtime, next } = await changing({
    open: () => open.promise,
    async [Symbol.asyncDispose]() {
      closed++;
    },
  });
  const change = runtime.adopt(next, bound()).catch((error: unknown) => ({ error, closed }));
  const stopped = runtime.stop();
  open.resolve();
  const error = { message: "the runtime was stopped while its parts were replaced" };
  expect(await change).toMatchObject({ error, closed: 1 });
  await stopped;
  expect(closed).toBe(1);
});

test("parts that can be neither opened nor closed are refused with both errors, and what ran before runs on", async () => {
  const { runtime, next } = await changing({
    open: () => Promise.reject(new BridgeError("UNAVAILABLE", "the port is taken")),
    [Symbol.asyncDispose]: () => Promise.reject(new Error("refuses to close")),
  });
  const before = runtime.parts;
  await expect(runtime.adopt(next, bound())).rejects.toMatchObject({
    phases: ["opening", "receiver in"],
    errors: [{ message: "the port is taken" }, { message: "refuses to close" }],
  });
  expect([runtime.running, runtime.parts]).toEqual([true, before]);
  await runtime.stop();
});

test("a start that is overtaken by a stop while its receivers open is refused, and does not run after that", async () => {
  const open = Promise.withResolvers<void>();
  const { runtime } = runtimeOf(opening({ open: () => open.promise, async [Symbol.asyncDispose]() {} }));
  const start = runtime.start(bound()).catch((error: unknown) => error);
  const stopped = runtime.stop();
  open.resolve();
  expect(await start).toMatchObject({ message: "the runtime was stopped while it started" });
  await stopped;
  expect(runtime.running).toBe(false);
});

test("parts are replaced by one change at a time: a second one is refused, and the first goes on", async () => {
  const open = Promise.withResolvers<void>();
  const { runtime, next } = await changing({ open: () => open.promise, async [Symbol.asyncDispose]() {} });
  const change = runtime.adopt(next, bound());
  await expect(runtime.retire(next)).rejects.toThrow("the parts of the runtime are being replaced already");
  open.resolve();
  await change;
  expect(runtime.parts).toBe(next);
  await runtime.stop();
});

test("a start that is overtaken by a stop is refused", async () => {
  const { runtime } = runtimeOf({ session: true, clock: new ImpatientClock() });
  const start = runtime.start(bound()).catch((error: unknown) => error);
  while (!runtime.running) await turn();
  await runtime.stop();
  expect(await start).toMatchObject({ message: "the runtime was stopped while its parts were started" });
});

test("what fails in the background is named, with its cause", async () => {
  const next = (): never => {
    throw new Error("no randomness left");
  };
  const { bridge, runtime } = runtimeOf({ session: true }, { next, id: () => "id" });
  bridge.hub.link("s", "source").connects.failNext(1, new BridgeError("UNAVAILABLE", "the broker is away"));
  await runtime.start(bound());
  await expect.poll(() => runtime.failures).toEqual([{ component: "session s (source)", error: "no randomness left" }]);
  await runtime.stop();
});
