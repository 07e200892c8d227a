import { BridgeError, type LogFields, type Logger, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { StandingFault } from "../../src/outbox/standing-fault.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";
import { outboxAway } from "../support/store-away.ts";

function noting(): { readonly lines: [string, LogFields | undefined][]; readonly logger: Logger } {
  const lines: [string, LogFields | undefined][] = [];
  const note = (message: string, fields?: LogFields): void => void lines.push([message, fields]);
  const logger: Logger = { ...silentLogger, error: note, info: note, child: () => logger };
  return { lines, logger };
}

test("a fault is told when it begins, when it is another one, and when it is over, with its number and for how long", async () => {
  const clock = new FakeClock();
  const { lines, logger } = noting();
  const fault = new StandingFault({ logger, clock, begins: "it fails", ends: "it works" });
  fault.over();
  for (let n = 0; n < 3; n++) fault.met(new BridgeError("CONNECTION_LOST", `away ${n}`), { records: n });
  await clock.advance(1_000);
  fault.met(new BridgeError("TIMEOUT", "no answer"));
  await clock.advance(1_500);
  expect(fault.fault).toBeDefined();
  fault.over();
  fault.over();
  expect(fault.fault).toBeUndefined();
  expect(lines).toEqual([
    ["it fails", { code: "CONNECTION_LOST", error: "away 0", records: 0 }],
    ["it fails", { code: "TIMEOUT", error: "no answer" }],
    ["it works", { failures: 4, lasted_ms: 2_500 }],
  ]);
});

test("an outbox that is away is told of once, and when it is back, however often it was asked", async () => {
  const away = outboxAway("well");
  const { lines, logger } = noting();
  const { hub, supervisor } = memoryBridge({
    deliveryMode: "shared_outbox",
    outbox: away.store,
    clock: away.clock,
    logger,
  });
  await supervisor.start(bound());
  const hold = hub.channel("out").sends.hold();
  hub.publish("in", { id: "m1" });
  await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
  away.become("refuses");
  hold[Symbol.dispose]();
  for (let n = 0; n < 30; n++) await away.clock.advance(1_000);
  const told = (start: string): number => lines.filter(([message]) => message.startsWith(start)).length;
  expect([told("outbox not readable"), told("outbox not written")]).toEqual([1, 1]);
  const unreadable = lines.find(([message]) => message.startsWith("outbox not readable"));
  expect(unreadable?.[1]).toMatchObject({ code: "CONNECTION_LOST", binding_id: "out" });
  away.become("well");
  for (let n = 0; n < 10; n++) await away.clock.advance(1_000);
  expect([told("outbox not readable"), told("outbox not written")]).toEqual([1, 1]);
  for (const ends of ["outbox readable again", "outbox written again"]) {
    const [[, fields] = []] = lines.filter(([message]) => message === ends);
    expect(Number(fields?.["failures"])).toBeGreaterThan(2);
  }
  await supervisor.shutdown();
});
