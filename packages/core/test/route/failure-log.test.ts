import { BridgeError, type LogFields, type Logger, type Processor, silentLogger } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { describe, expect, test } from "vitest";
import { FailureLog } from "../../src/route/failure-log.ts";
import { bound, memoryBridge, type MemoryBridgeOptions, outage, refusal } from "../support/memory-bridge.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

function logged(options: MemoryBridgeOptions) {
  const lines: Line[] = [];
  const at = (level: string, outer: LogFields) => (message: string, fields?: LogFields) => {
    lines.push({ level, message, fields: { ...outer, ...fields } });
  };
  const logger = (outer: LogFields): Logger => ({
    debug: at("debug", outer),
    info: at("info", outer),
    warn: at("warn", outer),
    error: at("error", outer),
    child: (fields) => logger({ ...outer, ...fields }),
  });
  const of = (message: string): readonly Line[] => lines.filter((line) => line.message === message);
  const { hub, clock, supervisor } = memoryBridge({ ...options, logger: logger({}) });
  return { hub, clock, supervisor, of };
}

const SUMS = "messages dropped, as the route's policy says";
const odd: Processor = {
  process: (envelope) =>
    Promise.resolve(envelope.subject === "odd" ? { kind: "filter", reason: "it is odd" } : { kind: "pass", envelope }),
};

describe.each(["direct_hold", "shared_outbox"] as const)("%s", (deliveryMode) => {
  test("finding 8.1: what the policy drops is told once a minute for each binding and reason, and each one at debug", async () => {
    const { hub, clock, supervisor, of } = logged({
      deliveryMode,
      processors: [odd],
      policy: { onPermanentFailure: "drop" },
    });
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(5, refusal);
    for (let at = 0; at < 5; at++)
      hub.publish("in", { id: `refused${at}`, payload: "secret", headers: { h: "secret" } });
    for (let at = 0; at < 3; at++) hub.publish("in", { id: `odd${at}`, subject: "odd", payload: "secret" });
    await clock.until(() => of("message dropped").length === 8);
    const first = of(SUMS).map(({ level, fields }) => ({ level, ...fields }));
    expect(first).toHaveLength(2);
    expect(first).toContainEqual({
      level: "info",
      route_id: "r",
      binding_id: "out",
      code: "REJECTED",
      disposition: "dropped",
      count: 1,
      last_envelope_id: "refused0",
    });
    await clock.advance(60_000);
    const all = of(SUMS).slice(2);
    expect(all).toHaveLength(2);
    expect(all.map(({ fields }) => fields)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ binding_id: "out", code: "REJECTED", count: 4, last_envelope_id: "refused4" }),
        expect.objectContaining({ binding_id: "", code: "MESSAGE_FILTERED", count: 2, last_envelope_id: "odd2" }),
      ]),
    );
    await clock.advance(300_000);
    expect(of(SUMS)).toHaveLength(4);
    expect(of("message dropped").every(({ level }) => level === "debug")).toBe(true);
    expect(JSON.stringify(of(SUMS))).not.toContain("secret");
    expect(JSON.stringify(of("message dropped"))).not.toContain("secret");
    await supervisor.shutdown();
  });

  test("finding 8.1: what was dropped since the last line is told when the route stops", async () => {
    const { hub, clock, supervisor, of } = logged({ deliveryMode, policy: { onPermanentFailure: "drop" } });
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(3, refusal);
    for (let at = 0; at < 3; at++) hub.publish("in", { id: `m${at}` });
    await clock.until(() => of("message dropped").length === 3);
    await supervisor.shutdown();
    expect(of(SUMS).map(({ fields }) => fields["count"])).toEqual([1, 2]);
    expect(clock.pending).toBe(0);
  });

  test("finding 8.4: each attempt before the last is told at debug, with the stack of what nobody classified", async () => {
    const { hub, clock, supervisor, of } = logged({ deliveryMode, policy: { maxReplayAttempts: 3 } });
    await supervisor.start(bound());
    const { sends } = hub.channel("out");
    sends.failNext(1, outage);
    hub.publish("in", { id: "m1", payload: "secret" });
    const tried = () => of("attempt failed: it is tried again");
    await clock.until(() => tried().length === 1);
    sends.failNext(1, new TypeError("somebody's mistake") as unknown as BridgeError);
    for (let at = 0; at < 40 && tried().length < 2; at++) await clock.advance(200);
    expect(tried()).toMatchObject([
      {
        level: "debug",
        fields: {
          route_id: "r",
          binding_id: "out",
          envelope_id: "m1",
          code: "UNAVAILABLE",
          attempt: 1,
          error: outage.message,
        },
      },
      { level: "debug", fields: { code: "INTERNAL", attempt: 2 } },
    ]);
    expect(tried()[1]?.fields["stack"]).toContain("failure-log.test");
    expect(tried()[0]?.fields).not.toHaveProperty("stack");
    const unexpected = of("unexpected error: nobody has classified it, and others go on");
    expect(unexpected).toMatchObject([{ level: "error", fields: { where: "binding out", envelope_id: "m1" } }]);
    expect(tried()[1]?.fields["retry_in_ms"]).toBeGreaterThan(0);
    expect(JSON.stringify(tried())).not.toContain("secret");
    for (let at = 0; at < 40 && supervisor.stats().legs.every((leg) => leg.dispositions.delivered === 0); at++) {
      await clock.advance(200);
    }
    expect(tried()).toHaveLength(2);
    await supervisor.shutdown();
  });
});

test("operators 3.3: what was redriven and cannot be deleted is told once a minute with its number, and each one at debug", async () => {
  const clock = new ManualClock();
  const lines: unknown[] = [];
  const at =
    (level: string) =>
    (message: string, { entry_id, count }: LogFields = {}) =>
      void lines.push([level, message.split(":")[0], entry_id, ...(count === undefined ? [] : [count])]);
  const logger: Logger = { ...silentLogger, debug: at("debug"), error: at("error") };
  const log = new FailureLog(logger, clock);
  for (let n = 0; n < 5; n++) log.notDeleted(`e${n}`, new BridgeError("UNAVAILABLE", "disk full"), {});
  const told = "redriven entry not deleted";
  expect(lines.filter((line) => (line as string[])[0] === "debug")).toHaveLength(5);
  expect(lines.filter((line) => (line as string[])[0] === "error")).toEqual([["error", told, "e0", 1]]);
  clock.advance(60_000);
  expect(lines.at(-1)).toEqual(["error", told, "e4", 4]);
  clock.advance(300_000);
  expect(lines).toHaveLength(7);
  log[Symbol.dispose]();
});

test("what could not be written and what could not be deleted is told apart, and each by its reason", () => {
  const clock = new ManualClock();
  const lines: unknown[] = [];
  const error = (message: string, { error: why, count }: LogFields = {}) =>
    void lines.push([message.split(":")[0], why, count]);
  using log = new FailureLog({ ...silentLogger, error }, clock);
  const [full, away] = [new BridgeError("INTERNAL", "disk full"), new BridgeError("UNAVAILABLE", "away")];
  const all = [full, away].flatMap(({ message }) => [
    ["dead letter not written", message, 1],
    ["redriven entry not deleted", message, 1],
  ]);
  for (const why of [full, away]) {
    log.notWritten(why, {});
    log.notDeleted("e1", why, {});
  }
  expect(lines).toEqual(all);
  for (const why of [full, away]) {
    log.notWritten(why, {});
    log.notDeleted("e2", why, {});
  }
  expect(lines).toEqual(all);
  clock.advance(60_000);
  expect(lines.slice(all.length)).toEqual(all);
});

test("finding 8.4: only of what nobody classified it is told where it was thrown", () => {
  const stacks: unknown[] = [];
  const debug = (_: string, { stack }: LogFields = {}) => void stacks.push(stack);
  using log = new FailureLog({ ...silentLogger, debug }, new ManualClock());
  const mistake = new TypeError("somebody's mistake");
  for (const error of [
    BridgeError.from(mistake),
    new BridgeError("UNAVAILABLE", "away", { cause: mistake }),
    new BridgeError("INTERNAL", "no answer", { cause: outage }),
    new BridgeError("UNAVAILABLE", "away", { cause: outage }),
  ]) {
    log.triedInVain({ bindingId: "out", envelopeId: "m1", error, trace: {} }, 1, 0);
  }
  expect(stacks).toEqual([expect.stringContaining("failure-log.test"), undefined, undefined, undefined]);
});
