import { describe, expect, test } from "vitest";
import { openLog } from "../src/log.ts";
import { StandIn } from "./stand-in.ts";

describe("contract 7: the log", () => {
  test("is lines of JSON on standard error", () => {
    const host = new StandIn();
    const logger = openLog(host.process.stderr, "info");
    logger.warn("session lost", { session_id: "broker", code: "TIMEOUT" });
    logger.child({ route_id: "alarms" }).error("source lost");
    const [first, second] = host.log.map(({ time, ...rest }) => {
      expect(new Date(String(time)).toISOString()).toBe(time);
      return rest;
    });
    expect(first).toEqual({ level: "warn", session_id: "broker", code: "TIMEOUT", msg: "session lost" });
    expect(second).toEqual({ level: "error", route_id: "alarms", msg: "source lost" });
    expect(host.stdout.text).toBe("");
  });

  test("is for people on a terminal", () => {
    const host = new StandIn({ terminal: true });
    openLog(host.process.stderr, "info").warn("session lost", { session_id: "broker", subscriptions: 2 });
    expect(host.stderr.lines).toHaveLength(1);
    expect(host.stderr.text).toMatch(
      /^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: session lost session_id=broker subscriptions=2\n$/,
    );
  });

  test.each([true, false])(
    "shows what a message wrote, and lets it write no line or terminal code (terminal: %s)",
    (terminal) => {
      const host = new StandIn({ terminal });
      const id = "x\u001b[31m\u009b31m\u202e\u2028\r\n[00:00:00.000] INFO: forged";
      openLog(host.process.stderr, "info").warn("message dead-lettered", { envelope_id: id, audit: { target: id } });
      expect(host.stderr.text).not.toMatch(/[\p{Cc}--[\n]]|\p{Bidi_Control}|\u2028/v);
      expect(host.stderr.text).not.toMatch(/^\[00:00:00/m);
      expect(host.stderr.text).toContain(String.raw`x\u001b[31m\u009b31m\u202e\u2028`);
      if (!terminal) expect(host.log[0]).toMatchObject({ envelope_id: id, audit: { target: id } });
    },
  );

  test("is complete when the call returns, so that an exit loses nothing", () => {
    for (const terminal of [true, false]) {
      const host = new StandIn({ terminal });
      openLog(host.process.stderr, "info").error("the last words");
      expect(host.stderr.text).toContain("the last words");
    }
  });

  test("has no key twice: what is said last, and nearest, stands", () => {
    const host = new StandIn();
    const logger = openLog(host.process.stderr, "info").child({ store: "dlq", route_id: "a" });
    logger.child({ route_id: "b" }).warn("it happens", { store: "outbox", code: "TIMEOUT" });
    expect(host.stderr.text.match(/"store"|"route_id"/g)).toHaveLength(2);
    expect(host.log[0]).toMatchObject({ store: "outbox", route_id: "b", code: "TIMEOUT", msg: "it happens" });
  });

  test("leaves out what is below its level", () => {
    const host = new StandIn();
    const logger = openLog(host.process.stderr, "warn");
    logger.debug("a");
    logger.info("b");
    logger.child({}).info("c");
    logger.warn("d");
    logger.error("e");
    expect(host.log.map((line) => line["msg"])).toEqual(["d", "e"]);
  });

  test("takes another level while it is written to, its children too", () => {
    const host = new StandIn();
    const logger = openLog(host.process.stderr, "warn");
    const child = logger.child({ route_id: "r" });
    logger.setLevel("debug");
    child.debug("a");
    logger.setLevel("error");
    child.warn("b");
    expect(host.log.map((line) => line["msg"])).toEqual(["a"]);
  });
});
