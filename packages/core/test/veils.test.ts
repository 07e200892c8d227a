import { BridgeError, type LogFields, type Logger, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { Veils } from "../src/veils.ts";
import { bound, memoryBridge } from "./support/memory-bridge.ts";

function listing(lines: string[], own: LogFields = {}): Logger {
  const at = (message: string, fields: LogFields = {}): void =>
    void lines.push(JSON.stringify({ message, ...own, ...fields }));
  return { ...silentLogger, info: at, warn: at, error: at, child: (fields) => listing(lines, { ...own, ...fields }) };
}

test("what came in through a reference is in no line of the log, dead letter or answer, with a logger of one's own too", async () => {
  const lines: string[] = [];
  const { hub, supervisor } = memoryBridge({
    logger: listing(lines),
    config: (config) => ({ ...config, veils: ["orders.example.com"] }),
  });
  await supervisor.start(bound());
  hub.channel("out").sends.failNext(1, new BridgeError("REJECTED", "orders.example.com answered 400"));
  const result = await supervisor.inject("r", { subject: "s", payload: "" }, { signal: bound() });
  expect(result.error).toMatchObject({ code: "REJECTED", message: "[REDACTED] answered 400" });
  const [entry] = (await supervisor.dlq()?.list({}, { limit: 1, offset: 0 }, bound())) ?? [];
  expect(entry?.lastError).toBe("[REDACTED] answered 400");
  expect(supervisor.veil?.("at orders.example.com")).toBe("at [REDACTED]");
  await supervisor.shutdown();
  expect(lines.join()).toContain("[REDACTED] answered 400");
  expect(lines.join()).not.toContain("orders.example");
});

test("nor in what a store says that cannot be opened", async () => {
  const lines: string[] = [];
  const { supervisor } = memoryBridge({
    logger: listing(lines),
    dlq: () => Promise.reject(new BridgeError("CONNECTION_LOST", "dlq.example.com: connection refused")),
    config: (config) => ({ ...config, veils: ["dlq.example.com"] }),
  });
  await supervisor.start(bound());
  await supervisor.shutdown();
  expect(lines.join()).toContain("[REDACTED]: connection refused");
  expect(lines.join()).not.toContain("dlq.example.com");
});

test("what a configuration has veiled stays so while its parts end, and is forgotten some configurations later", () => {
  const veils = new Veils();
  expect(veils.veil).toBeUndefined();
  expect(veils.over("first.example")).toBe("first.example");
  const first = ["first.example"];
  veils.remember(first);
  veils.remember(["second.example"]);
  expect(veils.veil?.("first.example, second.example")).toBe("[REDACTED], [REDACTED]");
  for (let change = 0; change < 100; change++) {
    veils.remember(first);
    veils.remember([`${change}-refused.example`]);
  }
  expect(veils.over("first.example")).toBe("[REDACTED]");
  expect(veils.over("second 1-ref")).not.toContain("[REDACTED]");
});
