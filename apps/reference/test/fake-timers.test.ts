import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type BridgeDefinition, defineBridge } from "@bridge/core";
import { fileDlq } from "@bridge/dlq-file";
import { memoryDlq } from "@bridge/dlq-memory";
import { fileOutbox } from "@bridge/file";
import { memoryOutbox } from "@bridge/memory";
import { BridgeError } from "@bridge/ports";
import { circuitBreaker, filter, schema, transform } from "@bridge/processors";
import { createTestBridge } from "@bridge/transport-memory";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "bridge-fake-timers-"));
const volatile = { acknowledge_volatile: true } as const;

/** Parts that a bridge under test may have, and what comes through them. */
const parts: Record<string, () => Omit<BridgeDefinition, "id" | "routes"> & { route?: object }> = {
  transform: () => ({ route: { processors: [transform({ payload: "{ 'a': payload.a }" })] } }),
  filter: () => ({ route: { processors: [filter({ drop: { field: "$.a", op: "eq", value: 2 } })] } }),
  schema: () => ({ route: { processors: [schema({ schema: { type: "object" } })] } }),
  "circuit breaker": () => ({ route: { processors: [circuitBreaker({})] } }),
  "outbox in memory": () => ({
    stores: { dlq: memoryDlq(volatile), outbox: memoryOutbox(volatile) },
    route: { delivery_mode: "shared_outbox" },
  }),
  "stores in files": () => ({
    stores: { dlq: fileDlq({ path: join(folder, "dlq.db") }), outbox: fileOutbox({ path: join(folder, "outbox.db") }) },
    route: { delivery_mode: "shared_outbox" },
  }),
};

afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  vi.useFakeTimers({
    toFake: [
      "setTimeout",
      "clearTimeout",
      "setInterval",
      "clearInterval",
      "setImmediate",
      "clearImmediate",
      "queueMicrotask",
      "performance",
      "hrtime",
      "Date",
    ],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

test.each(Object.entries(parts))(
  "transport-memory: fake timers of a test runner do not touch it: %s",
  async (_, part) => {
    const bridge = await createTestBridge((inside) => {
      const { route, ...rest } = part();
      return defineBridge({
        id: "faked",
        stores: { dlq: memoryDlq(volatile) },
        ...rest,
        routes: {
          r: { from: inside.channel("in"), to: inside.at("out"), ...route, policy: { max_replay_attempts: 1 } },
        },
      });
    });
    await bridge.send("in", { payload: { a: 1 } });
    expect((await bridge.received("out", 1))[0]?.json()).toEqual({ a: 1 });
    bridge.inside.hub.channel("out").sends.failNext(1, new BridgeError("REJECTED", "no"));
    await bridge.send("in", { payload: { a: 3 } });
    for (let look = 0; look < 500 && (await bridge.deadLetters()).length === 0; look++) await sleep(10);
    expect(await bridge.deadLetters()).toHaveLength(1);
    await bridge.close();
  },
);
