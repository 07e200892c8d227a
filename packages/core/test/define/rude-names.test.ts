import { parseConfig } from "@bridge/config";
import { memoryOutbox } from "@bridge/memory";
import { defineFactory, type ProcessorAdapter, processorAdapter } from "@bridge/ports";
import { RUDE_NAMES } from "@bridge/tooling/rude-names";
import { createTestBridge, memory, type MemoryAdapter } from "@bridge/transport-memory";
import fc from "fast-check";
import * as v from "valibot";
import { expect, test } from "vitest";
import { type BridgeDefinition, defineBridge, type RouteDefinition } from "../../src/index.ts";
import { dlq } from "./support.ts";

const name = fc.constantFrom(...RUDE_NAMES);
const names = fc.uniqueArray(name, { minLength: 1, maxLength: 3 });

const plain: ProcessorAdapter<Record<string, never>> = processorAdapter({
  type: "plain",
  ...defineFactory({
    options: v.strictObject({}),
    create: () => ({ process: (envelope) => ({ kind: "pass", envelope }) }),
  }),
});

interface Named {
  readonly routes: readonly string[];
  readonly targets: readonly string[];
  readonly session: string;
  readonly sender: string;
  readonly processor: string;
  readonly header: string;
  readonly chooses: boolean;
  readonly keeps: boolean;
}

const named: fc.Arbitrary<Named> = fc.record({
  routes: names,
  targets: names,
  session: name,
  sender: name,
  processor: name,
  header: name,
  chooses: fc.boolean(),
  keeps: fc.boolean(),
});

const block = <T>(keys: readonly string[], make: (key: string) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(keys.map((key) => [key, make(key)]));

function definition(inside: MemoryAdapter, is: Named): BridgeDefinition {
  const [session, sender, processor] = [inside.session(), inside.sender(), plain({})];
  return {
    id: is.sender,
    stores: { dlq, outbox: memoryOutbox({ acknowledge_volatile: true }) },
    sessions: { [is.session]: session },
    senders: { [is.sender]: sender },
    processors: { [is.processor]: processor },
    routes: block(is.routes, (route) => ({
      from: session.channel(`in.${route}`),
      processors: [processor],
      to: block(is.targets, (target) => sender.at(`${route}.${target}`)),
      ...(is.chooses && {
        resolver: {
          type: "header_map",
          header: is.header,
          map: block(
            is.targets.map((target) => `to ${target}`),
            (value) => value.slice(3),
          ),
        },
      }),
      ...(is.keeps && { delivery_mode: "shared_outbox" }),
    })),
  };
}

test("every name that an id may be names routes, targets, sessions, senders, processors and what a resolver looks at", async () => {
  await fc.assert(
    fc.asyncProperty(named, async (is) => {
      const define = (inside: MemoryAdapter) => defineBridge(definition(inside, is));
      await using bridge = await createTestBridge(define);
      for (const route of is.routes) {
        for (const target of is.targets)
          await bridge.send(`in.${route}`, { id: target, headers: { [is.header]: `to ${target}` } });
        for (const target of is.targets) {
          const ids = (await bridge.received(`${route}.${target}`)).map(({ id }) => id);
          expect(ids).toEqual(is.chooses ? [target] : is.targets);
        }
        const headers = { [is.header]: `to ${is.targets[0]}` };
        expect(await bridge.bridge.inject(route, { payload: "x", headers })).toMatchObject({ outcome: "delivered" });
      }
      expect(new Set(bridge.bridge.stats().legs.map(({ routeId }) => routeId))).toEqual(new Set(is.routes));
      expect(new Set(bridge.bridge.view().routes.map(({ id }) => id))).toEqual(new Set(is.routes));
      expect(bridge.bridge.stats().unaccounted).toBe(0);
      const defined = define(bridge.inside);
      const written = JSON.parse(JSON.stringify(defined.document())) as ReturnType<typeof defined.document>;
      expect(parseConfig(written, defined.registry)).toEqual(defined.config);
    }),
    { numRuns: 100 },
  );
}, 60_000);

test("the compiler takes names that every object has, and those of lists and promises", () => {
  const inside = memory();
  const to = inside.at("out");
  const { config } = defineBridge({
    id: "constructor",
    stores: { dlq },
    routes: {
      toString: {
        from: inside.channel("in"),
        to: {
          constructor: to,
          hasOwnProperty: to,
          kind: to,
          length: to,
          name: to,
          // oxlint-disable-next-line unicorn/no-thenable -- a name as any other
          then: to,
          toString: to,
          valueOf: to,
        },
      },
    },
  });
  expect(config.routes[0]?.bindings).toHaveLength(8);
});

const inside = memory();
const [from, to] = [inside.channel("in"), inside.at("out")];

test.each<[string, Partial<BridgeDefinition>, string]>([
  ["a target", { routes: { r: { from, to: { a: to, __proto__: to } } } }, "routes.r.to"],
  ["the only target", { routes: { r: { from, to: { __proto__: to } } } }, "routes.r.to"],
  ["a route", { routes: { r: { from, to }, __proto__: { from, to } } }, "routes"],
  ["a sender", { senders: { __proto__: inside.sender() } }, "senders"],
  ["inherited routes", { routes: Object.create({ r: { from, to } }) as {} }, "routes"],
])("%s that a literal would lose is an error that names the remedy", (_, part, place) => {
  expect(() => defineBridge({ id: "b", stores: { dlq }, routes: {}, ...part })).toThrow(
    `${place}: inherits from another object, which would be left out`,
  );
});

test("a block may be an instance of a class, or have no prototype", () => {
  class Routes {
    readonly [name: string]: RouteDefinition;
    readonly r = { from, to };
  }
  const without = Object.assign(Object.create(null) as {}, { r: { from, to } });
  for (const routes of [new Routes(), without])
    expect(defineBridge({ id: "b", stores: { dlq }, routes }).config.routes).toHaveLength(1);
});
