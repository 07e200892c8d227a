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
