import type { BridgeConfig } from "@bridge/config";
import type { Receiver, TransportPlugin } from "@bridge/ports";
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { bound, memoryBridge, type MemoryBridge, outage } from "../support/memory-bridge.ts";

/** What became of receivers, by their channel. */
interface Watch {
  readonly opened: string[];
  readonly closed: string[];
  /** What their closing waits for. */
  closing: Promise<void>;
}

function watched({ receiver, ...memory }: TransportPlugin, watch: Watch): TransportPlugin {
  if (receiver === undefined) throw new Error("no receivers");
  const create: typeof receiver.create = (options, context): Receiver => {
    const part = receiver.create(options, context);
    const { channel } = options as { channel: string };
    return {
      async open(signal) {
        await part.open?.(signal);
        watch.opened.push(channel);
      },
      receive: (...args) => part.receive(...args),
      async [Symbol.asyncDispose]() {
        await watch.closing;
        await part[Symbol.asyncDispose]();
        watch.closed.push(channel);
      },
    };
  };
  return { ...memory, type: "watched", receiver: { ...receiver, create } };
}

function bridgeWith(watch: Watch): MemoryBridge {
  return memoryBridge({
    transports: (memory) => [watched(memory, watch)],
    config: (config) => ({
      ...config,
      receivers: config.receivers.map((part) => ({ ...part, transport: "watched" })),
    }),
  });
}

/** The same with two routes more, each with a receiver of its own. */
function grown(config: BridgeConfig, ids: readonly string[]): BridgeConfig {
  const [receiver, route] = [config.receivers[0], config.routes[0]];
  if (receiver === undefined || route === undefined) throw new Error("nothing to begin with");
  return {
    ...config,
    receivers: [
      ...config.receivers,
      ...ids.map((id) => ({ ...receiver, id, options: { ...(receiver.options as object), channel: id } })),
    ],
    routes: [...config.routes, ...ids.map((id) => ({ ...route, id, receiverId: id }))],
  };
}

const watching = (): Watch => ({ opened: [], closed: [], closing: Promise.resolve() });

test("of a change that cannot be opened what was open already is closed again", async () => {
  const watch = watching();
  const { hub, supervisor, config } = bridgeWith(watch);
  await supervisor.start(bound());
  hub.channel("second").opens.failNext(1, outage);
  await expect(supervisor.apply(grown(config, ["first", "second"]), bound())).rejects.toThrow("runs again");
  expect(watch.opened).toEqual(["in", "first"]);
  expect(watch.closed.toSorted()).toEqual(["first", "second"]);
  await supervisor.shutdown();
});

test("a shutdown cuts short what a change opens, and is not over before that is closed", async () => {
  const watch = watching();
  const closing = Promise.withResolvers<void>();
  const { hub, supervisor, config } = bridgeWith(watch);
  await supervisor.start(bound());
  using _ = hub.channel("second").opens.hold();
  const applied = supervisor.apply(grown(config, ["first", "second"]), new AbortController().signal);
  await hub.channel("second").until(({ opens }) => opens.held === 1, bound());
  watch.closing = closing.promise;
  let over = false;
  const shutdown = supervisor.shutdown().then(() => (over = true));
  await expect.poll(() => hub.channel("second").opens.held).toBe(0);
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect(over).toBe(false);
  closing.resolve();
  await shutdown;
  expect(watch.closed.toSorted()).toEqual(["first", "in", "second"]);
  await applied.catch(() => {});
});

test("a change leaves nothing behind on its caller's signal", async () => {
  const { supervisor, config } = bridgeWith(watching());
  await supervisor.start(bound());
  const { signal } = new AbortController();
  for (const next of [grown(config, ["more"]), config]) expect(await supervisor.apply(next, signal)).toBe("applied");
  expect(getEventListeners(signal, "abort")).toEqual([]);
  await supervisor.shutdown();
});
