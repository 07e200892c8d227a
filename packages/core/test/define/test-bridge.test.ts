import { BridgeError } from "@bridge/ports";
import { createTestBridge, type MemoryAdapter } from "@bridge/transport-memory";
import { describe, expect, test } from "vitest";
import { type BridgeDefinition, defineBridge } from "../../src/index.ts";
import { dlq } from "./support.ts";

const MINUTE = 60_000;
const DOWN = new BridgeError("UNAVAILABLE", "down");

function copying(route: Partial<BridgeDefinition["routes"][string]> = {}) {
  return (inside: MemoryAdapter) =>
    defineBridge({
      id: "copy",
      stores: { dlq },
      routes: { copy: { from: inside.channel("in"), to: inside.at("out"), ...route } },
    });
}

describe("a bridge inside a test", () => {
  test("what was sent is received: text, bytes, JSON, with what else a message has", async () => {
    await using bridge = await createTestBridge(copying());
    await bridge.send("in", { id: "a", payload: "hello", headers: { color: "red" } });
    await bridge.send("in", { payload: Uint8Array.of(104, 105) });
    await bridge.send("in", { payload: { item: "apple" } });
    const [text, bytes, json] = await bridge.received("out");
    expect(text).toMatchObject({ id: "a", subject: "in", headers: { color: "red" } });
    expect(text?.text()).toBe("hello");
    expect(bytes?.text()).toBe("hi");
    expect(json?.json()).toEqual({ item: "apple" });
    expect(json?.contentType).toBe("application/json");
  });

  test("what is no payload is refused by its name", async () => {
    await using bridge = await createTestBridge(copying());
    await expect(bridge.send("in", { payload: 1n as never })).rejects.toThrow("payload");
  });

  test("a retry comes when its time has come, not before", async () => {
    await using bridge = await createTestBridge(copying());
    bridge.inside.hub.channel("out").sends.failNext(2, DOWN);
    await bridge.send("in", { payload: "late" });
    await bridge.advance(999);
    expect(await bridge.received("out")).toEqual([]);
    // The second wait is twice as long as the first.
    await bridge.advance(1 + 1_999);
    expect(await bridge.received("out")).toEqual([]);
    await bridge.advance(1);
    expect(await bridge.received("out")).toHaveLength(1);
  });

  test("a long time passes in one call: a message that always fails becomes a dead letter", async () => {
    await using bridge = await createTestBridge(copying({ policy: { max_replay_attempts: 3 } }));
    bridge.inside.hub.channel("out").sends.failNext(Infinity, DOWN);
    await bridge.send("in", { payload: { item: "fig" } });
    expect(await bridge.deadLetters()).toEqual([]);
    await bridge.advance(MINUTE);
    const [letter, ...others] = await bridge.deadLetters();
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ routeId: "copy", errorCode: "UNAVAILABLE", attempts: 3 });
    expect(new TextDecoder().decode(letter?.envelope.payload)).toBe('{"item":"fig"}');
    expect(letter?.failedAt).toBe(Date.UTC(2026, 0) + 3_000);
  });

  test("it starts at the time that it is told, and its runs are alike", async () => {
    const run = async () => {
      await using bridge = await createTestBridge(copying(), { startsAt: 5 * MINUTE });
      await bridge.send("in", { payload: "x" });
      const [message] = await bridge.received("out");
      return [bridge.clock.now(), message?.id, bridge.bridge.instanceId];
    };
    const first = await run();
    expect(first[0]).toBe(5 * MINUTE);
    expect(await run()).toEqual(first);
  });

  test("fewer messages than are waited for are an error that says how many there are", async () => {
    await using bridge = await createTestBridge(copying());
    const late = bridge.received("out", 2);
    await bridge.send("in", { payload: "one" });
    await expect(late).rejects.toThrow('channel "out" holds 1 messages, where 2 are waited for');
  });

  test("a bridge without a store for dead letters says so", async () => {
    const define = (inside: MemoryAdapter) =>
      defineBridge({
        id: "none",
        routes: {
          r: {
            from: inside.channel("in"),
            to: inside.at("out"),
            policy: { on_permanent_failure: "drop", on_expired: "drop" },
          },
        },
      });
    await using bridge = await createTestBridge(define);
    await expect(bridge.deadLetters()).rejects.toThrow("the bridge keeps no dead letters");
  });

  test("closing ends a bridge whose messages wait for a retry, and accepts none of them", async () => {
    const bridge = await createTestBridge(copying({ policy: { max_replay_attempts: 1_000 } }));
    bridge.inside.hub.channel("out").sends.failNext(Infinity, DOWN);
    await bridge.send("in", { payload: "x" });
    await Promise.all([bridge.close(), bridge.close()]);
    expect(bridge.bridge.state().kind).toBe("shutting_down");
    expect(bridge.inside.hub.channel("in")).toMatchObject({ accepted: 0, unsettled: 0 });
  });

  test("time does not go backwards", async () => {
    await using bridge = await createTestBridge(copying());
    await expect(bridge.advance(-1)).rejects.toThrow(RangeError);
    await expect(bridge.advance(Number.NaN)).rejects.toThrow(RangeError);
  });
});
