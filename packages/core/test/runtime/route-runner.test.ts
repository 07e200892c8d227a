import { silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { RouteRunner } from "../../src/runtime/route-runner.ts";
import { bound } from "../support/memory-bridge.ts";
import { runtimeOf } from "../support/runtime-of.ts";

test("a bug that not even the failure of its message holds for is the route's failure, which makes the bridge unhealthy", async () => {
  const [parts] = runtimeOf().runtime.parts.routes.values();
  const broken = (): never => {
    throw new Error("beyond repair");
  };
  Object.assign(parts!.surprises, { tell: broken });
  const runner = new RouteRunner({ ...parts!, resolver: broken }, silentLogger);
  const message = { id: "m1", subject: "s", payload: new Uint8Array() };
  await runner.route.inject(message, bound()).catch(() => {});
  expect(runner.failures).toEqual([{ component: "route r", error: "beyond repair" }]);
});

test("what has not ended is told by name: the route, or a drain of it", async () => {
  const [parts] = runtimeOf().runtime.parts.routes.values();
  using runner = new RouteRunner(parts!, silentLogger);
  runner.start();
  expect(runner.running).toEqual(["route r"]);
  runner.cancel();
  await runner.join();
  expect(runner.running).toEqual([]);
});
