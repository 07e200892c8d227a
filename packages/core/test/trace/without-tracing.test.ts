import { type Logger, type LogFields, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { bound, memoryBridge, outage, refusal } from "../support/memory-bridge.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

test.each(["direct_hold", "shared_outbox"] as const)(
  "a bridge that traces nothing names no trace in its log, though messages bring one: %s",
  async (deliveryMode) => {
    const lines: unknown[] = [];
    const line = (message: string, fields?: LogFields): void => void lines.push([message, fields]);
    const logger: Logger = { ...silentLogger, debug: line, warn: line, error: line, child: () => logger };
    const { hub, clock, supervisor } = memoryBridge({ deliveryMode, logger });
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(1, outage);
    hub.publish("in", { id: "m1", headers: { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` } });
    await clock.until(() => supervisor.stats().legs[0]?.attempts === 1);
    hub.channel("out").sends.failNext(1, refusal);
    await clock.until(() => supervisor.stats().legs[0]?.dispositions.dead_lettered === 1);
    await supervisor.shutdown();
    expect(lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(lines)).not.toContain(TRACE_ID);
  },
);
