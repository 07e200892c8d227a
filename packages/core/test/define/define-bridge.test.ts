import { ConfigError, formatProblem, type Problem } from "@bridge/config";
import type { ProcessorDefinition, ReceiverDefinition } from "@bridge/ports";
import { memory } from "@bridge/transport-memory";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { type BridgeDefinition, defineBridge } from "../../src/index.ts";
import { bound, dlq } from "./support.ts";

const stores = { dlq };

describe("a bridge in code", () => {
  test("carries messages from where its route says to where it says", async () => {
    const inside = memory();
    const copy = defineBridge({
      id: "copy",
      stores,
      routes: { copy: { from: inside.channel("in"), to: inside.at("out") } },
    });
    const bridge = await copy.start({ signal: bound() });
    inside.hub.publish("in", { id: "m1", payload: "hello" });
    const [message] = await inside.hub.channel("out").waitForMessages(1, bound());
    expect(message?.id).toBe("m1");
    await bridge.shutdown();
  });

  test("is a document, whose ids are the names of properties", () => {
    const inside = memory();
    const bridge = defineBridge({
      id: "shop",
      bridge: { log_level: "warn" },
      stores,
      routes: {
        orders: {
          from: inside.channel("orders", { redelivery_delay: "1s" }),
          to: inside.at("erp"),
          policy: { max_replay_attempts: 8 },
        },
      },
    });
    expect(bridge.document()).toEqual({
      bridge: { id: "shop", log_level: "warn" },
      stores: { dlq: { type: "memory", options: { acknowledge_volatile: true } } },
      receivers: [{ id: "orders", transport: "memory", options: { redelivery_delay: "1s", channel: "orders" } }],
      senders: [{ id: "orders", transport: "memory", options: {} }],
      bindings: [{ id: "orders", sender_id: "orders", address: "erp" }],
      routes: [{ id: "orders", receiver_id: "orders", bindings: ["orders"], policy: { max_replay_attempts: 8 } }],
    });
  });

  test("goes to all of a list of targets, and of those that have names", () => {
    const inside = memory();
    const routes = defineBridge({
      id: "b",
      stores,
      routes: {
        listed: { from: inside.channel("a"), to: [inside.at("x"), inside.at("y")] },
        named: { from: inside.channel("b"), to: { x: inside.at("x"), y: inside.at("y") } },
        single: { from: inside.channel("c"), to: [inside.at("x"), inside.at("y")], dispatch_mode: "single" },
      },
    }).config.routes.map(({ bindings, dispatchMode, resolver }) => ({
      bindings,
      dispatchMode,
      resolver: resolver.type,
    }));
    expect(routes).toEqual([
      { bindings: ["listed.1", "listed.2"], dispatchMode: "fan_out", resolver: "all" },
      { bindings: ["named.x", "named.y"], dispatchMode: "fan_out", resolver: "all" },
      { bindings: ["single.1", "single.2"], dispatchMode: "single", resolver: "static" },
    ]);
  });

  test("has resolvers that call targets by their names in the route", () => {
    const inside = memory();
    const [route] = defineBridge({
      id: "b",
      stores,
      routes: {
        r: {
          from: inside.channel("in"),
          to: { eu: inside.at("eu"), us: inside.at("us") },
          resolver: { type: "header_map", header: "region", map: { e: "eu", u: ["us"] }, default_binding: "us" },
        },
      },
    }).config.routes;
    expect(route?.dispatchMode).toBe("single");
    expect(route?.resolver).toEqual({
      type: "header_map",
      header: "region",
      map: new Map([
        ["e", ["r.eu"]],
        ["u", ["r.us"]],
      ]),
      defaultBindings: ["r.us"],
    });
  });

  test("shares sessions, senders and processors by identity, and names those that stand for themselves", () => {
    const inside = memory();
    const broker = inside.session();
    const [out, step] = [broker.sender({ rate_limit: { messages_per_second: 5 } }), pass()];
    const again = { ...step };
    const { config } = defineBridge({
      id: "b",
      stores,
      sessions: { broker },
      routes: {
        one: { from: broker.channel("a"), to: out.at("x"), processors: [step] },
        two: { from: broker.channel("b"), to: out.at("y"), processors: [step, again] },
      },
    });
    expect(config.sessions.map(({ id }) => id)).toEqual(["broker"]);
    expect(config.receivers.map(({ sessionId }) => sessionId)).toEqual(["broker", "broker"]);
    expect(config.senders).toMatchObject([{ id: "one", rateLimit: { messagesPerSecond: 5, burst: 5 } }]);
    expect(config.bindings).toMatchObject([
      { id: "one", senderId: "one" },
      { id: "two", senderId: "one" },
    ]);
    expect(config.routes.map(({ processors }) => processors)).toEqual([["one.pass"], ["one.pass", "two.pass"]]);
  });

  test("gives senders and processors the names that they have in the definition", () => {
    const inside = memory();
    const [out, step] = [inside.sender(), pass()];
    const { config } = defineBridge({
      id: "b",
      stores,
      senders: { out },
      processors: { step },
      routes: { r: { from: inside.channel("a"), to: out.at("x"), processors: [step] } },
    });
    expect([config.senders[0]?.id, config.bindings[0]?.senderId, config.routes[0]?.processors]).toEqual([
      "out",
      "out",
      ["step"],
    ]);
  });
});

describe("what is wrong with a definition is told at once, where it stands there", () => {
  const inside = memory();
  const named = inside.session();
  const route = { from: inside.channel("in"), to: inside.at("out") };
  const broken: readonly (readonly [string, unknown, readonly string[]])[] = [
    [
      "options that the schema refuses",
      { id: "b", routes: { r: { ...route, from: inside.channel("in", { redelivery_delay: "soon" }) } }, stores },
      ['routes.r.from.redelivery_delay: not a duration: write a number with a unit (ms, s, m, h, d), such as "250ms"'],
    ],
    ["a key that no route has", { id: "b", routes: { r: { ...route, polizy: {} } }, stores }, ["routes.r.polizy: "]],
    ["an id that is none", { id: "a b", routes: {}, stores }, ["id: an id consists of"]],
    ["no place to take from", { id: "b", routes: { r: { to: route.to } } }, ["routes.r.from: is not there: give it"]],
    ["a sender to take from", { id: "b", routes: { r: { ...route, from: route.to } } }, ["routes.r.from: is a target"]],
    ["nowhere to go", { id: "b", routes: { r: { ...route, to: [] } } }, ["routes.r.to: is an empty list"]],
    ["a string to go to", { id: "b", routes: { r: { ...route, to: "out" } } }, ["routes.r.to: is a string"]],
    [
      "one wrong of several",
      { id: "b", routes: { r: { ...route, to: { a: route.to, b: 1 } } } },
      ["routes.r.to.b: is a number"],
    ],
    [
      "a name for a processor",
      { id: "b", routes: { r: { ...route, processors: ["p"] } } },
      ["routes.r.processors[0]: is a string"],
    ],
    ["a route of nothing", { id: "b", routes: { r: null } }, ["routes.r: is null"]],
    [
      "a route whose name is no id",
      { id: "b", routes: { "a/b": route }, stores },
      ['routes["a/b"]: an id consists of'],
    ],
    [
      "a target whose name is no id",
      { id: "b", routes: { r: { ...route, to: { "x y": route.to, z: inside.at("z") } } }, stores },
      ['routes.r.to["x y"]: an id consists of'],
    ],
    [
      "a transport in place of a target",
      { id: "b", routes: { r: { ...route, to: inside } }, stores },
      ["routes.r.to: is a transport by itself: give it where messages go, such as"],
    ],
    ["a second id", { id: "b", bridge: { id: "c" }, routes: {} }, ["bridge.id: is the id of the definition itself"]],
    ["a map of routes", { id: "b", routes: new Map([["r", route]]) }, ["routes: is a Map: give it an object"]],
    ["no routes", { id: "b" }, ["routes: is not there"]],
    ["a store by its name", { id: "b", stores: { dlq: "memory" }, routes: {} }, ["stores.dlq: is a string"]],
    ["dead letters without a store", { id: "b", routes: { r: route } }, ["routes.r"]],
    [
      "two names for one session",
      { id: "b", sessions: { a: named, b: named }, routes: {} },
      ['sessions.b: is the session that is called "a", too: name it once, or make another one'],
    ],
    [
      "two transports of one type",
      { id: "b", routes: { r: { ...route, to: memory().at("out") } } },
      ['routes.r.to: is of another transport "memory" than routes.r.from: make both with the same one'],
    ],
    [
      "two sessions without names",
      { id: "b", routes: { r: { from: inside.session().channel("a"), to: inside.session().at("b") } } },
      ['routes.r.to.session: the session at routes.r.from.session is called "memory", too'],
    ],
  ];

  const RUDE = [null, 5, "all", true, [], {}, { type: "nope" }, { type: "__proto__" }, Symbol.iterator];
  const VALUES = [...RUDE, { type: "static" }, { type: "rules", rules: "x" }, { type: "rules", rules: [null] }];
  const resolvers = [...VALUES, { type: "header_map", header: "h" }, { type: "header_map", header: "h", map: [] }];

  test.each(resolvers.map((resolver) => ({ resolver })))("a resolver that is none: $resolver", ({ resolver }) => {
    const to = { p: inside.at("p"), q: inside.at("q") };
    const definition = { id: "b", stores, routes: { r: { ...route, to, resolver } } } as unknown as BridgeDefinition;
    const told = problemsOf(definition).map(formatProblem);
    expect(told.length).toBeGreaterThan(0);
    for (const problem of told) expect(problem).toMatch(/^routes\.r\.resolver\b/);
  });

  test.each(["bridge", "stores", "sessions", "senders", "processors", "routes"])("%s that is no block", (key) => {
    for (const value of [null, 5, "abc", [], () => {}]) {
      const told = problemsOf({ id: "b", stores, routes: {}, [key]: value });
      expect(told.map(formatProblem)).toEqual([
        expect.stringMatching(new RegExp(`^${key}: is .*: give it an object$`)),
      ]);
    }
  });

  test("processors of a route that are no list", () => {
    for (const processors of [null, 5, "abc", {}]) {
      const told = problemsOf({
        id: "b",
        stores,
        routes: { r: { ...route, processors } },
      } as unknown as BridgeDefinition);
      expect(told.map(formatProblem)).toEqual([
        expect.stringMatching(/^routes\.r\.processors: is .*: give it a list of processors$/),
      ]);
    }
  });

  test("no definition at all", () => {
    for (const definition of [undefined, null, "b", []]) {
      expect(problemsOf(definition as unknown as BridgeDefinition).map(formatProblem)).toEqual([
        expect.stringMatching(/^definition: is .*: give it an object$/),
      ]);
    }
  });

  test("a name of a route or a target that is no id, once for all that is called after it", () => {
    for (const routes of [{ "a/b": route }, { r: { ...route, to: { "x y": route.to, z: inside.at("z") } } }])
      expect(problemsOf({ id: "b", stores, routes })).toHaveLength(1);
  });

  test.each(broken)("%s", (_, definition, problems) => {
    const told = problemsOf(definition as BridgeDefinition).map(formatProblem);
    for (const [index, problem] of problems.entries()) expect(told[index]).toContain(problem);
  });
});

function problemsOf(definition: BridgeDefinition): readonly Problem[] {
  try {
    defineBridge(definition);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

function pass(): ProcessorDefinition {
  const process = (envelope: never) => ({ kind: "pass", envelope }) as const;
  return {
    kind: "processor",
    plugin: { type: "pass", options: v.strictObject({}), create: () => ({ process }) },
    options: {},
  };
}

test("a transport is told which parts of the bridge are made of it, by their ids", () => {
  const seen: unknown[] = [];
  const inside = memory();
  const transport = {
    type: "own",
    plugin: (uses: { receivers: ReadonlyMap<string, unknown>; senders: ReadonlyMap<string, unknown> }) => {
      seen.push([...uses.receivers], [...uses.senders]);
      return { ...inside.plugin(), type: "own" };
    },
  };
  const from: ReceiverDefinition = { kind: "receiver", transport, options: (id) => ({ channel: `of-${id}` }) };
  const to = { kind: "sender", transport, options: (id: string) => ({ channel: `to-${id}` }) } as const;
  const bridge = defineBridge({ id: "b", stores, routes: { r: { from, to } } });
  expect(seen).toEqual([[["r", from]], [["r", to]]]);
  expect(bridge.document().receivers?.[0]?.options).toEqual({ channel: "of-r" });
  expect(bridge.document().senders?.[0]?.options).toEqual({ channel: "to-r" });
});
