import { silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { Accounts } from "../../src/accounting/accounts.ts";
import { Controls } from "../../src/control/controls.ts";
import { Recent } from "../../src/recent/recent.ts";
import { DueLooks } from "../../src/route/due-looks.ts";
import { Taps } from "../../src/tap/taps.ts";
import { build } from "../../src/runtime/build.ts";
import { NO_PARTS } from "../../src/runtime/runtime-parts.ts";
import { Runtime } from "../../src/runtime/runtime.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";
import { noHooks } from "../support/no-hooks.ts";

test("the counters of every part are told under its name: both halves of a session, receivers and senders", async () => {
  const { clock, supervisor } = memoryBridge({ session: true });
  await supervisor.start(bound());
  await clock.until(() => supervisor.view().level === "full");
  expect(supervisor.stats().parts.map(({ part, id }) => `${part} ${id}`)).toEqual(
    expect.arrayContaining(["session s/source", "session s/target", "receiver in"]),
  );
  await supervisor.shutdown();
});

test("a route has a leg for each of its bindings, and one for what ends before a binding is chosen", async () => {
  const { supervisor } = memoryBridge({ bindings: ["a", "b"] });
  await supervisor.start(bound());
  const places = supervisor.stats().legs.map(({ routeId, bindingId }) => [routeId, bindingId]);
  expect(places).toHaveLength(3);
  expect(places).toEqual(
    expect.arrayContaining([
      ["r", ""],
      ["r", "a"],
      ["r", "b"],
    ]),
  );
  await supervisor.shutdown();
});

test("spec 7.2: a change to a store that no plugin makes is refused before anything is stopped for it", async () => {
  const states: unknown[] = [];
  const logger = {
    ...silentLogger,
    info: (message: string, fields?: object) => void (message === "bridge state" && states.push(fields)),
    child: () => logger,
  };
  const { supervisor, config } = memoryBridge({ logger });
  await supervisor.start(bound());
  states.length = 0;
  const dlq = { type: "unheard-of", reach: "process", options: {} } as const;
  await expect(supervisor.apply({ ...config, stores: { dlq } }, bound())).rejects.toThrow("unheard-of");
  expect(states).toEqual([]);
  await supervisor.shutdown();
});

test("parts of a runtime that does not run cannot be replaced", async () => {
  const bridge = memoryBridge();
  const seams = { clock: bridge.clock, random: { next: () => 0.5, id: () => "id" }, logger: silentLogger };
  const budgets = () => bridge.config.bridge;
  const parts = build({
    ...seams,
    config: bridge.config,
    instanceId: "plant-a",
    registry: bridge.registry,
    accounts: new Accounts(),
    controls: new Controls(bridge.clock),
    taps: new Taps(bridge.clock),
    recent: new Recent(bridge.clock),
    looks: new DueLooks(bridge.clock),
    hooks: noHooks,
    dlq: () => undefined,
    outbox: () => undefined,
    budgets,
  });
  const runtime = new Runtime({ ...seams, parts, budgets, keepLease: async () => {}, leaseLost: () => {} });
  await expect(runtime.retire(NO_PARTS)).rejects.toThrow("a runtime that is built cannot be replaced");
  await runtime.start(bound());
  await runtime.stop();
  await expect(runtime.adopt(parts, bound())).rejects.toThrow("a runtime that is stopped cannot be replaced");
});
