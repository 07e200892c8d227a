import type { RouteConfig } from "@bridge/config";
import type { Connection } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { openMemoryLeases } from "@bridge/memory";
import { LeaseLost } from "../../src/lease/lease-lost.ts";
import type { Route } from "../../src/route/route.ts";
import { Runtime } from "../../src/runtime/runtime.ts";
import { NO_PARTS } from "../../src/runtime/runtime-parts.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, type MemoryBridgeOptions } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";
import { runtimeOf } from "../support/runtime-of.ts";

/** Two routes, from a channel each. */
const two: MemoryBridgeOptions = {
  config: (config) => {
    const [receiver, route] = [config.receivers[0]!, config.routes[0]!];
    const another: RouteConfig = { ...route, id: "r2", receiverId: "in2" };
    return { ...config, receivers: [receiver, { ...receiver, id: "in2" }], routes: [route, another] };
  },
};

test.each([
  [20_000, 15_000],
  [6_000, 3_000],
])(
  "of a `quiesce_timeout` of %d ms that one message uses up, the others have their last word after %d",
  async (quiesceTimeoutMs, heardAfterMs) => {
    const clock = new BoundingClock();
    const { runtime } = runtimeOf({ ...two, clock, quiesceTimeoutMs, drainTimeoutMs: 60_000 });
    await runtime.start(bound());
    const begun = clock.monotonic();
    let heard: number | undefined;
    const stuck: Pick<Route, "quiesce"> = {
      quiesce: (signal) => orAborted(new Promise<void>(() => {}), signal).catch(() => {}),
    };
    Object.assign(runtime.route("r")!, stuck);
    const other: Pick<Route, "finish"> = { finish: async () => void (heard = clock.monotonic() - begun) };
    Object.assign(runtime.route("r2")!, other);
    const stopped = runtime.stop();
    await clock.advance(heardAfterMs - 1);
    expect(heard).toBeUndefined();
    await clock.advance(1);
    await expect.poll(() => heard).toBe(heardAfterMs);
    await clock.advance(quiesceTimeoutMs);
    await stopped;
  },
);

/** One for which each look at the time takes longer than a slice of work. */
class SlowClock extends FakeClock {
  #looks = 0;
  override monotonic(): number {
    return super.monotonic() + this.#looks++ * 1_000;
  }
}

test("a bug in one route while thousands are asked to end is told by the stop, and by nothing else", async () => {
  const { runtime } = runtimeOf({ ...two, clock: new SlowClock() });
  await runtime.start(bound());
  Object.assign(runtime.route("r")!, { quiesce: () => Promise.reject(new Error("a bug")) });
  await expect(runtime.stop()).rejects.toThrow("a bug");
});

test.each([
  ["a lease that is lost for good", new LeaseLost("s", "the store has another"), 1],
  ["a bug in what keeps it", new Error("a bug"), 0],
])("who runs the bridge is told of %s as of a lost lease only if it is one", async (_, error, times) => {
  let lost = 0;
  const { bridge, built, parts } = partsOf({ session: true, leases: () => openMemoryLeases({ name: "unused" }) });
  const runtime = new Runtime({
    ...built,
    parts,
    keepLease: () => Promise.reject(error),
    leaseLost: () => void lost++,
  });
  await runtime.start(bound());
  await bridge.clock.until(() => runtime.failures.length > 0);
  expect([runtime.failures, lost]).toEqual([[{ component: "lease s", error: error.message }], times]);
  await runtime.stop();
});

test("what has failed and is gone with a change is told no more", async () => {
  const { bridge, built, parts } = partsOf({ session: true, leases: () => openMemoryLeases({ name: "unused" }) });
  const keepLease = () => Promise.reject(new Error("a bug"));
  const runtime = new Runtime({ ...built, parts, keepLease, leaseLost: () => {} });
  await runtime.start(bound());
  await bridge.clock.until(() => runtime.failures.length > 0);
  await runtime.retire(NO_PARTS);
  expect(runtime.failures).toEqual([]);
  await runtime.stop();
});

test("a session ends when its connection has been closed, and not before", async () => {
  const closing = Promise.withResolvers<void>();
  const steps: string[] = [];
  const { bridge, runtime } = runtimeOf({ session: true, clock: new BoundingClock() });
  for (const { session } of runtime.links) {
    const connect = session.connect.bind(session);
    Object.assign(session, {
      async connect(signal: AbortSignal): Promise<Connection> {
        const connection = await connect(signal);
        return {
          closed: connection.closed,
          reconcile: (own) => connection.reconcile(own),
          async [Symbol.asyncDispose]() {
            await closing.promise;
            await connection[Symbol.asyncDispose]();
            steps.push("connection closed");
          },
        };
      },
      async [Symbol.asyncDispose]() {
        steps.push("session ended");
      },
    });
  }
  await runtime.start(bound());
  await bridge.clock.until(() => runtime.links.every(({ connected }) => connected));
  const stopped = runtime.stop();
  await bridge.clock.advance(1_000);
  expect(steps).toEqual([]);
  closing.resolve();
  await stopped;
  expect(steps).toEqual(["connection closed", "connection closed", "session ended", "session ended"]);
});
