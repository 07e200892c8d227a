import type { BridgeConfig } from "@bridge/config";
import type { LogFields, ReceiverContext } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { fieldLogger } from "../support/field-logger.ts";
import type { MemoryBridgeOptions } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";
import { RecordingTracer } from "../support/recording-tracer.ts";

test.each<[string, (config: BridgeConfig) => BridgeConfig, string]>([
  ["receiver", (config) => ({ ...config, receivers: [] }), 'the configuration has no receiver "in"'],
  ["binding", (config) => ({ ...config, bindings: [] }), 'the configuration has no binding "out"'],
  ["sender", (config) => ({ ...config, senders: [] }), 'the configuration has no sender "out"'],
  ["session", (config) => ({ ...config, sessions: [] }), 'the configuration has no session "s"'],
  ["processor", (config) => ({ ...config, processors: [] }), 'the configuration has no processor "p0"'],
])("a configuration made by hand that lacks a %s is refused, and the error names it", (_, config, said) => {
  const processors = [{ process: () => Promise.reject(new Error("is not asked")) }];
  expect(() => partsOf({ session: true, processors, config })).toThrow(said);
});

test("a store that is left out by its value is none", () => {
  const { parts } = partsOf({
    config: (config) => ({ ...config, stores: { ...config.stores, lease: undefined } }),
  });
  expect([...parts.routes.keys()]).toHaveLength(1);
});

test("managed are the sessions of managed bindings, and of those only", () => {
  const managedOf = (managed: boolean, session: boolean): ReadonlySet<string> =>
    partsOf({
      session,
      config: (config) => ({ ...config, bindings: config.bindings.map((each) => ({ ...each, managed })) }),
    }).parts.managed;
  expect(managedOf(true, true)).toEqual(new Set(["s"]));
  expect(managedOf(false, true)).toEqual(new Set());
  expect(managedOf(true, false)).toEqual(new Set());
});

describe("what a receiver is built with", () => {
  /** What a receiver has read of its context while it was created. */
  function builtWith(options: MemoryBridgeOptions): {
    readonly maxInFlight: number;
    readonly fields: readonly LogFields[];
  } {
    const { logger, fields } = fieldLogger();
    let maxInFlight = 0;
    partsOf({
      ...options,
      logger,
      transports: ({ receiver, ...memory }) => [
        {
          ...memory,
          type: "watched",
          receiver: {
            ...receiver!,
            create: (own, context: ReceiverContext) => {
              ({ maxInFlight } = context);
              return receiver!.create(own, context);
            },
          },
        },
      ],
      config: (config) => ({
        ...config,
        receivers: config.receivers.map((each) => ({ ...each, transport: "watched" })),
      }),
    });
    return { maxInFlight, fields };
  }

  test("`max_in_flight` of its route, also while no route takes from it yet", () => {
    expect(builtWith({ policy: { maxInFlight: 7 } }).maxInFlight).toBe(7);
  });

  test("a logger that names it", () => {
    expect(builtWith({}).fields).toContainEqual({ receiver_id: "in" });
  });
});

test("an address that came in through a reference is not given to the tracer", () => {
  const addressesOf = (hidesAddress: boolean): unknown[] => {
    const addresses: unknown[] = [];
    const tracer = new RecordingTracer();
    partsOf({
      tracer: {
        route: (route) => ({
          ...tracer.route(route),
          binding: (binding) => {
            addresses.push(binding.address);
            return tracer.route(route).binding(binding);
          },
        }),
      },
      config: (config) => ({
        ...config,
        bindings: config.bindings.map((each) => ({ ...each, ...(hidesAddress && { hidesAddress }) })),
      }),
    });
    return addresses;
  };
  expect(addressesOf(true)).toEqual(["[REDACTED]"]);
  expect(addressesOf(false)).toEqual(["out"]);
});
