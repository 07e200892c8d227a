import { createRegistry } from "@bridge/config";
import { memoryOutbox } from "@bridge/memory";
import { createTestBridge, memory } from "@bridge/transport-memory";
import { describe, expect, test } from "vitest";
import { type DefinedBridge, defineBridge, type Supervisor } from "../../src/index.ts";
import { dlq } from "./support.ts";

function copying(): DefinedBridge {
  const inside = memory();
  return defineBridge({
    id: "given",
    stores: { dlq },
    routes: { copy: { from: inside.channel("in"), to: inside.at("out") } },
  });
}

const message = { payload: "x" };
const { signal } = new AbortController();

/** What a program without a compiler gives in place of a signal. */
const NO_SIGNALS: readonly (readonly [unknown, string])[] = [
  [5_000, "a number"],
  [null, "null"],
  ["10s", "a string"],
  [{}, "an object"],
  [new AbortController(), "an object that has one"],
  [{ signal }, "an object that has one"],
  [() => {}, "a function"],
];
const CALLS: readonly (readonly [string, (bridge: Supervisor, given: never) => Promise<unknown>])[] = [
  ["start", (bridge, given) => bridge.start(given)],
  ["stop", (bridge, given) => bridge.stop(given)],
  ["inject", (bridge, given) => bridge.inject("copy", message, { signal: given })],
  ["redrive", (bridge, given) => bridge.redrive([], given)],
  ["deadLetterRecords", (bridge, given) => bridge.deadLetterRecords([], given)],
];

describe("what is given and is not what is asked for is an error that names it, and does nothing", () => {
  test.each(CALLS)("a signal of %s", async (_, call) => {
    await using bridge = await copying().start();
    for (const [given, kind] of NO_SIGNALS)
      await expect(call(bridge, given as never)).rejects.toThrow(
        new TypeError(`signal is ${kind}: give it an AbortSignal, such as AbortSignal.timeout(10_000)`),
      );
    expect(bridge.state().kind).toBe("running");
    expect(bridge.stats().legs.every(({ injected }) => injected === 0)).toBe(true);
  });

  test.each(["start", "run"] as const)("options of %s, and their signal", async (name) => {
    const bridge = copying();
    for (const [given, kind] of NO_SIGNALS)
      await expect(bridge[name]({ signal: given as never })).rejects.toThrow(
        `signal is ${kind}: give it an AbortSignal`,
      );
    for (const [given, kind] of [
      [AbortSignal.abort(), "an AbortSignal"],
      [null, "null"],
      [5_000, "a number"],
    ] as const)
      await expect(bridge[name](given as never)).rejects.toThrow(`options is ${kind}: give it an object`);
  });

  test("options and message of an inject", async () => {
    await using bridge = await copying().start();
    await expect(bridge.inject("copy", message, signal as never)).rejects.toThrow("options is an AbortSignal: give it");
    await expect(bridge.inject("copy", message, null as never)).rejects.toThrow("options is null: give it an object");
    await expect(bridge.inject("copy", "hello" as never)).rejects.toThrow("message is a string: give it an object");
    await expect(bridge.inject("copy", undefined as never)).rejects.toThrow("message is missing: give it an object");
  });

  test.each(["redrive", "deadLetterRecords"] as const)("ids of %s", async (name) => {
    await using bridge = await copying().start();
    await expect(bridge[name]("abc" as never)).rejects.toThrow("ids is a string: give it a list of ids");
    await expect(bridge[name](undefined as never)).rejects.toThrow("ids is missing: give it a list of ids");
    await expect(bridge[name](["a", 1] as never)).rejects.toThrow("ids[1] is a number: give it an id");
  });

  test.each(["apply", "plan", "stranding"] as const)("a configuration for %s", async (name) => {
    await using bridge = await copying().start();
    const ask = (given: unknown): Promise<unknown> => bridge[name](given as never, new AbortController().signal);
    await expect(ask(undefined)).rejects.toThrow("config is missing: give it what validateConfig");
    await expect(ask("bridge.yaml")).rejects.toThrow("config is a string: give it what validateConfig");
    for (const given of [{}, [], { bridge: { id: "b" }, routes: [] }])
      await expect(ask(given)).rejects.toThrow("config is no validated configuration: give it what validateConfig");
    expect(bridge.state().kind).toBe("running");
  });
});

describe("a store in another role than it is made for", () => {
  const inside = memory();
  const routes = { copy: { from: inside.channel("in"), to: inside.at("out") } };

  test("is refused by the definition, before anything is opened", () => {
    expect(() => defineBridge({ id: "given", stores: { outbox: dlq as never }, routes })).toThrow(
      "stores.outbox: is a store for the role dlq: give it one that is made for this role, such as fileOutbox",
    );
    const outbox = memoryOutbox({ acknowledge_volatile: true });
    expect(() => defineBridge({ id: "given", stores: { dlq: outbox as never }, routes })).toThrow(
      "stores.dlq: is a store for the role outbox: give it one that is made for this role, such as fileDlq",
    );
  });

  test("is refused by the registry", () => {
    expect(() => createRegistry({ outboxStores: [dlq.plugin as never] })).toThrow(
      'outboxStores[0] of createRegistry, "memory", is made for dlqStores: put it there, and here one such as fileOutbox',
    );
  });
});

describe("what would be ignored is refused, with what was meant", () => {
  test.each(["start", "run"] as const)("an option of %s that there is not, and a logger that is none", async (name) => {
    const bridge = copying();
    await expect(bridge[name]({ loger: console } as never)).rejects.toThrow(
      `${name} knows no "loger"; did you mean "logger": there are signal, logger, `,
    );
    await expect(bridge[name]({ logger: {} } as never)).rejects.toThrow("logger is an object without debug(): ");
  });

  test("a member of an injected message that there is not", async () => {
    await using bridge = await copying().start();
    await expect(bridge.inject("copy", { payload: "x", header: {} } as never)).rejects.toThrow(
      'a message knows no "header"; did you mean "headers": there are id, subject, ',
    );
  });

  test("a member of a message to a bridge under test that there is not; what was received can be sent", async () => {
    await using bridge = await createTestBridge((inside) =>
      defineBridge({
        id: "t",
        stores: { dlq },
        routes: { copy: { from: inside.channel("in"), to: inside.at("out") } },
      }),
    );
    await expect(bridge.send("in", { payload: "x", header: {} } as never)).rejects.toThrow(
      'a message knows no "header"',
    );
    await bridge.send("in", { payload: "x" });
    const [received] = await bridge.received("out", 1);
    await bridge.send("in", received!);
    expect(await bridge.received("out", 2)).toHaveLength(2);
  });
});
