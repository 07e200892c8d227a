import { defineFactory, type PluginContext, type Processor } from "@bridge/ports";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { createRegistry, noStoreFactory } from "../src/index.ts";

const filter = {
  type: "filter",
  ...defineFactory<v.GenericSchema, PluginContext, Processor>({
    options: v.strictObject({}),
    create: () => ({ process: (envelope) => ({ kind: "pass", envelope }) }),
  }),
};

describe("the registry of plugins", () => {
  it("finds a plugin by its type", () => {
    expect(createRegistry({ processors: [filter] }).processors.get("filter")).toBe(filter);
    expect(createRegistry({}).transports.size).toBe(0);
  });

  it("takes adapters that programs call, and asks a transport for one plugin of its own", () => {
    const part = { needsSession: false, options: v.strictObject({}), create: () => ({}) as never };
    const made = Object.assign(() => {}, { type: "own", plugin: () => ({ type: "own", sender: { ...part } }) });
    const [one, other] = [createRegistry({ transports: [made] }), createRegistry({ transports: [made] })];
    expect(one.transports.get("own")?.sender).toEqual(part);
    expect(other.transports.get("own")?.sender).not.toBe(one.transports.get("own")?.sender);
    const called = Object.assign(() => {}, filter);
    expect(createRegistry({ processors: [called] }).processors.get("filter")).toBe(called);
  });

  it("refuses two plugins of one kind and type", () => {
    expect(() => createRegistry({ processors: [filter, filter] })).toThrow(
      'two processor plugins have the type "filter": register one',
    );
  });
});

describe("a store type without a plugin", () => {
  it("spec 7.2: is named, with its role and what is registered", () => {
    expect(noStoreFactory("dlq", "memroy", ["memory", "file"])).toBe(
      'no store factory is registered for store type "memroy" in the role dlq; registered: memory, file; did you mean "memory"?',
    );
    expect(noStoreFactory("lease", "x", [])).toBe(
      'no store factory is registered for store type "x" in the role lease; none is registered for this role',
    );
  });
});

describe("what is no registry", () => {
  const { type: _, ...untyped } = filter;
  const create = () => ({});
  const store = { type: "tape", options: filter.options, create: () => async () => ({}) };
  const cases: readonly [string, unknown, string][] = [
    ["nothing", undefined, "createRegistry takes an object of lists, such as { transports: [mqtt] }, not undefined"],
    ["a list", [filter], "createRegistry takes an object of lists, such as { transports: [mqtt] }, not a list"],
    [
      "a list of another name",
      { transport: [] },
      'createRegistry knows no "transport": there are transports, dlqStores, outboxStores, leaseStores, processors and elsewhere',
    ],
    [
      "a plugin in place of a list",
      { processors: filter },
      "processors of createRegistry is an object: give it a list, as in processors: [filter]",
    ],
    [
      "a function that makes the plugin",
      { transports: [function quietTransport() {}] },
      "transports[0] of createRegistry is a function, not a plugin: call it, as in quietTransport()",
    ],
    [
      "an import that is not there",
      { processors: [filter, undefined] },
      "processors[1] of createRegistry is undefined, not a plugin: is its import right?",
    ],
    [
      "a plugin without a type",
      { processors: [untyped] },
      "processors[0] of createRegistry has no type: give it the name under which configurations ask for it, as a string",
    ],
    [
      "a plugin without create",
      { processors: [{ type: "filter", options: filter.options }] },
      'processors[0] of createRegistry, "filter", has no create: give it the function that builds the part, (options, context) => part',
    ],
    [
      "a plugin without a schema",
      { processors: [{ type: "filter", create }] },
      'processors[0] of createRegistry, "filter", has no options: give it the valibot schema of its options, v.strictObject({}) if it has none',
    ],
    [
      "a store without a reach",
      { dlqStores: [store] },
      'dlqStores[0] of createRegistry, "tape", has no reach: set it to process, instance, cluster, as far as its data goes',
    ],
    [
      "a transport without parts",
      { transports: [{ type: "pigeon" }] },
      'transports[0] of createRegistry, "pigeon", has no session, receiver or sender: give it one, made with defineFactory',
    ],
    [
      "a transport whose sender is a function",
      { transports: [{ type: "pigeon", sender: () => {} }] },
      'sender of transports[0] of createRegistry, "pigeon", is a function: make it with defineFactory, of options and create',
    ],
    [
      "programs that are no names",
      { elsewhere: { sqs: 1 } },
      'elsewhere of createRegistry takes an object of types and programs, such as { sqs: "bridge-aws" }: every value has to be a string',
    ],
  ];
  it.each(cases)("%s is refused with the remedy", (_name, plugins, message) => {
    expect(() => createRegistry(plugins as never)).toThrow(new Error(message));
  });

  it("a list that is left open is none", () => {
    expect(createRegistry({ processors: undefined, elsewhere: undefined } as never).processors.size).toBe(0);
  });
});
