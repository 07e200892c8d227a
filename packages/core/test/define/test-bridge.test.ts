import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { BridgeError, defineFactory, type Receiver, type ReceiverDefinition, type TransportMaker } from "@bridge/ports";
import { createTestBridge, memory, type MemoryAdapter } from "@bridge/transport-memory";
import * as v from "valibot";
import { describe, expect, test, vi } from "vitest";
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

  test("fake timers of the test runner do not touch it", async () => {
    vi.useFakeTimers();
    try {
      await using bridge = await createTestBridge(copying());
      bridge.inside.hub.channel("out").sends.failNext(1, DOWN);
      await bridge.send("in", { payload: "hello" });
      await bridge.advance(MINUTE);
      expect(await bridge.received("out", 1)).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
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

  test("calls that let time pass go one by one, each with all of its time", async () => {
    await using bridge = await createTestBridge(copying());
    const before = bridge.clock.now();
    await Promise.all([bridge.advance(1_000), bridge.advance(500)]);
    expect(bridge.clock.now() - before).toBe(1_500);
  });

  test("a closed bridge says that it is closed, not that it keeps no dead letters", async () => {
    const bridge = await createTestBridge(copying());
    await bridge.close();
    await expect(bridge.deadLetters()).rejects.toThrow("the bridge is closed");
  });

  test("a message for a channel that no route takes from is an error that names those that are", async () => {
    await using bridge = await createTestBridge(copying());
    bridge.inside.hub.channel("im");
    for (const channel of ["im", "out", "IN"])
      await expect(bridge.send(channel, {})).rejects.toThrow(
        `no route takes messages from channel "${channel}", but from "in"`,
      );
    expect(await bridge.received("im")).toEqual([]);
  });

  test("what is waited for in another channel than it is in is an error that names that one", async () => {
    await using bridge = await createTestBridge(copying());
    await bridge.send("in", { payload: "x" });
    await expect(bridge.received("owt", 1)).rejects.toThrow(
      'channel "owt" holds 0 messages, where 1 are waited for; there are some in "out"',
    );
  });

  test("a message for a bridge that is closed, or closes, is an error; what was received is still there", async () => {
    const bridge = await createTestBridge(copying());
    await bridge.send("in", { payload: "x" });
    const closing = bridge.close();
    await expect(bridge.send("in", {})).rejects.toThrow("the bridge is closed: it takes no messages");
    await closing;
    await expect(bridge.send("in", {})).rejects.toThrow("the bridge is closed: it takes no messages");
    expect(await bridge.received("out", 1)).toHaveLength(1);
    await bridge.advance(MINUTE);
    await bridge.close();
  });

  test("nothing is handed to a target once the bridge is closed, however much time passes", async () => {
    const bridge = await createTestBridge(copying({ policy: { max_replay_attempts: 1_000 } }));
    const { sends } = bridge.inside.hub.channel("out");
    sends.failNext(Infinity, DOWN);
    await bridge.send("in", { id: "retried" });
    await bridge.close();
    sends.clear();
    bridge.inside.hub.publish("in", { id: "late", payload: "" });
    await bridge.advance(60 * MINUTE);
    expect(await bridge.received("out")).toEqual([]);
  });

  test("two test bridges of one definition have messages, time and dead letters of their own", async () => {
    const define = copying({ policy: { max_replay_attempts: 1 } });
    await using one = await createTestBridge(define);
    await using other = await createTestBridge(define);
    one.inside.hub.channel("out").sends.failNext(1, DOWN);
    await one.send("in", { id: "fails" });
    await other.send("in", { id: "arrives" });
    await one.advance(MINUTE);
    expect([one.clock.now() - other.clock.now(), (await one.deadLetters()).length]).toEqual([MINUTE, 1]);
    expect([await other.deadLetters(), (await other.received("out")).map(({ id }) => id)]).toEqual([[], ["arrives"]]);
    await one.close();
    await other.send("in", { id: "again" });
    expect(await other.received("out")).toHaveLength(2);
  });

  test("a bridge that runs already is refused, because its time is another; once it is closed it may be tested again", async () => {
    const inside = memory();
    const shared = copying()(inside);
    const one = await createTestBridge(() => shared);
    await expect(createTestBridge(() => shared)).rejects.toThrow("the bridge runs already, with another time");
    await one.close();
    const next = await createTestBridge(() => shared);
    await expect(next.send("in", {})).rejects.toThrow('no route takes messages from channel "in", but from none');
    await next.close();
    await using _ = await shared.start();
    await expect(createTestBridge(() => shared)).rejects.toThrow("the bridge runs already, with another time");
  });

  test("a plain script that waits for a message stays alive until it is told that none came", async () => {
    const script = `
      import { defineBridge } from "@bridge/core";
      import { createTestBridge } from "@bridge/transport-memory";
      const define = (inside) => defineBridge({
        id: "copy",
        routes: { r: {
          from: inside.channel("in"), to: inside.at("out"),
          policy: { on_permanent_failure: "drop", on_expired: "drop" },
        } },
      });
      const bridge = await createTestBridge(define);
      await bridge.received("out", 1).catch((error) => console.log(error.message));
      await bridge.close();`;
    const run = promisify(execFile)(
      process.execPath,
      ["--conditions=@bridge/source", "--input-type=module", "--eval", script],
      {
        cwd: import.meta.dirname,
      },
    );
    expect((await run).stdout).toContain("holds 0 messages, where 1 are waited for");
  });

  test("a source that yields on and on is named by advance, which would have no end, and the bridge closes", async () => {
    let yielded = 0;
    const endless: TransportMaker = {
      type: "endless",
      plugin: () => ({
        type: "endless",
        receiver: {
          needsSession: false,
          topics: "refused",
          redelivers: "always",
          ...defineFactory({
            options: v.strictObject({}),
            create: (): Receiver => ({
              async *receive(signal) {
                while (!signal.aborted) {
                  yielded++;
                  yield { message: { subject: "s", payload: new Uint8Array() }, settle: () => {} };
                }
              },
              async [Symbol.asyncDispose]() {},
            }),
          }),
        },
      }),
    };
    const from: ReceiverDefinition = { kind: "receiver", transport: endless, options: {} };
    const bridge = await createTestBridge((inside) =>
      defineBridge({ id: "e", stores: { dlq }, routes: { r: { from, to: inside.at("out", { discard: true }) } } }),
    );
    await expect(bridge.advance(MINUTE)).rejects.toThrow("advance: the bridge is at work without end");
    await expect(bridge.advance(1)).rejects.toThrow("a source that yields on and on has to end");
    await bridge.close();
    expect(yielded).toBeGreaterThan(1_000);
  });

  test.each([
    [undefined, {}, "createTestBridge takes a function that defines a bridge, not undefined"],
    [copying()(memory()), {}, "createTestBridge takes a function that defines a bridge, not an object"],
    [() => undefined, {}, "the function of createTestBridge returned undefined: let it return what defineBridge does"],
    [async (inside: MemoryAdapter) => copying()(inside), {}, "createTestBridge returned a Promise: let it return"],
    [copying(), null, "options of createTestBridge are null: give it an object"],
    [copying(), { startsAt: "2026" }, "startsAt of createTestBridge is a string that is no time: give epoch"],
    [copying(), { startsAt: Number.NaN }, "startsAt of createTestBridge is a number that is no time: give epoch"],
    [copying(), { random: Math.random }, "random of createTestBridge is a function: give it an object with next()"],
  ])("what it does not take is named: %#", async (define: unknown, options: unknown, why) => {
    const made = createTestBridge(define as never, options as never);
    await expect(made).rejects.toThrow(TypeError);
    await expect(made).rejects.toThrow(why);
  });

  test.each([undefined, null, "hello"])("a message that is none is named: %s", async (message: unknown) => {
    await using bridge = await createTestBridge(copying());
    await expect(bridge.send("in", message as never)).rejects.toThrow(/^message is .*: give it an object, such as/);
  });

  test("time does not go backwards", async () => {
    await using bridge = await createTestBridge(copying());
    await expect(bridge.advance(-1)).rejects.toThrow(RangeError);
    await expect(bridge.advance(Number.NaN)).rejects.toThrow(RangeError);
  });
});
