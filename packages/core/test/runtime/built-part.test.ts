import type { Connection, Session } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { builtPart, builtStore } from "../../src/runtime/built-part.ts";
import { bound, memoryBridge, type MemoryBridgeOptions } from "../support/memory-bridge.ts";

/** What a plugin's `create` may return in place of a part. */
const WRONG: readonly [string, unknown, string][] = [
  ["nothing", undefined, "has returned nothing"],
  ["null", null, "has returned null"],
  ["a number", 5, "has returned a number"],
  ["a promise", Promise.resolve({}), "has returned a promise"],
  ["an empty object", {}, "has returned an object without "],
];

type Part = "session" | "receiver" | "sender";

function withPart(part: Part, built: unknown): MemoryBridgeOptions {
  const session = part === "session";
  return {
    session,
    transports: (memory) => {
      const factory = memory[part];
      return [{ ...memory, type: "own", [part]: { ...factory, create: () => built } }];
    },
    config: (config) => ({
      ...config,
      sessions: config.sessions.map((each) => ({ ...each, transport: "own" })),
      receivers: config.receivers.map((each) => ({ ...each, transport: "own" })),
      senders: config.senders.map((each) => ({ ...each, transport: "own" })),
    }),
  };
}

async function refusal(options: MemoryBridgeOptions): Promise<string> {
  const { supervisor } = memoryBridge(options);
  const [started] = await Promise.allSettled([supervisor.start(bound())]);
  await supervisor.shutdown();
  return started.status === "rejected" ? (started.reason as Error).message : "started";
}

describe.each(WRONG)("a plugin whose create returns %s", (_name, built, said) => {
  test.each<[Part, string, string]>([
    ["session", "s", "connect(), [Symbol.asyncDispose]()"],
    ["receiver", "in", "receive(), [Symbol.asyncDispose]()"],
    ["sender", "out", "send(), [Symbol.asyncDispose]()"],
  ])("of a %s fails the start, and says what it has to return", async (part, id, methods) => {
    const told = await refusal(withPart(part, built));
    expect(told).toContain(`${part}.create of the transport plugin "own", for "${id}", ${said}`);
    expect(told).toContain(`it has to return a ${part}, with ${methods}`);
  });

  test("of a processor fails the start, and says what it has to return", async () => {
    const told = await refusal({ processors: [built as never] });
    expect(told).toContain(`create of the processor plugin "p0", for "p0", ${said}`);
    expect(told).toContain("it has to return a processor, with process()");
  });

  test("of a store's function fails the start, and says what it has to return", async () => {
    const told = await refusal({ dlq: async () => built as never });
    const opened = built instanceof Promise ? "an object without " : said.slice("has returned ".length);
    expect(told).toContain(`the function that opens the store, of the dlq store plugin "test", has returned ${opened}`);
    expect(told).toContain("it has to return a dlq store, with put(), get(), list(), count(), [Symbol.asyncDispose]()");
  });
});

test("of several methods that a part lacks, each is named", () => {
  expect(() => builtPart({ send: () => {} }, "dlq store", "create of a plugin")).toThrow(
    "create of a plugin has returned an object without put(), get(), list(), count(), [Symbol.asyncDispose](): it has to",
  );
});

/** What was made, and how often it was ended. */
function madeWith(...methods: readonly PropertyKey[]): { readonly made: object; ended(): number } {
  let ended = 0;
  const made = {
    ...Object.fromEntries(methods.map((method) => [method, () => {}])),
    [Symbol.asyncDispose]: async () => void ended++,
  };
  return { made, ended: () => ended };
}

/** Everything that plugins build or open, without one of the methods that it has to have. */
const PORTS: Readonly<Record<string, (made: () => unknown) => MemoryBridgeOptions>> = {
  "a session": (made) => withMade("session", made),
  "a receiver": (made) => withMade("receiver", made),
  "a sender": (made) => withMade("sender", made),
  "a connection": (made) => ({
    ...withPart("session", undefined),
    transports: (memory) => {
      const create: NonNullable<typeof memory.session>["create"] = (options, context) => {
        const session = memory.session?.create(options, context) as Session;
        return Object.assign(session, { connect: async () => made() as Connection });
      };
      return [{ ...memory, type: "own", session: { ...memory.session, create } as never }];
    },
  }),
  "a processor": (made) => ({ processors: [made() as never] }),
  "a DLQ store": (made) => ({ dlq: async () => made() as never }),
  "an outbox store": (made) => ({ deliveryMode: "shared_outbox", outbox: async () => made() as never }),
  "a lease store": (made) => ({ session: true, leases: () => made() as never }),
};

function withMade(part: Part, made: () => unknown): MemoryBridgeOptions {
  const plain = withPart(part, undefined);
  return {
    ...plain,
    transports: (memory) => [{ ...memory, type: "own", [part]: { ...memory[part], create: made } }],
  };
}

describe.each(Object.keys(PORTS))("%s of the wrong shape", (port) => {
  test.each(["at once", "in a promise"])("is ended when it is refused, however often it is tried: %s", async (when) => {
    const made: { ended(): number }[] = [];
    const make = (): unknown => {
      const one = madeWith("get", "list");
      made.push(one);
      return when === "at once" ? one.made : Promise.resolve(one.made);
    };
    const { supervisor, clock } = memoryBridge(PORTS[port]?.(make));
    await Promise.allSettled([supervisor.start(bound()), clock.advance(5_000)]);
    await clock.advance(60_000);
    await supervisor.shutdown();
    expect(made.length).toBeGreaterThan(0);
    expect(made.map((one) => one.ended())).toEqual(made.map(() => 1));
  });
});

test("a promise that fails in place of a part is nobody's exception", async () => {
  const failing = (): unknown => Promise.reject(new Error("too late"));
  await expect(refusal(withMade("sender", failing))).resolves.toContain("has returned a promise");
});

test("parts that were built before one that is refused are ended, too", async () => {
  const good = madeWith("connect", "send", "receive");
  const parts = withMade("receiver", () => good.made);
  await refusal({ ...parts, processors: [{} as never] });
  expect(good.ended()).toBe(1);
});

test("a plugin of a store has to return a function: what it returns in place of it is ended, and it is said", () => {
  const made = madeWith("put", "get");
  const build = (open: unknown) => () => builtStore(open as never, "dlq store", 'the dlq store plugin "own"');
  const wanted = "it has to return a function that opens the dlq store, (signal) => Promise";
  expect(build(undefined)).toThrow(`create of the dlq store plugin "own" has returned nothing: ${wanted}`);
  expect(build(made.made)).toThrow(`create of the dlq store plugin "own" has returned an object: ${wanted}`);
  expect(made.ended()).toBe(1);
});

describe("a configuration made by hand that names what a transport has not", () => {
  test.each<[Part, string]>([
    ["session", 'transport "own" has no sessions'],
    ["receiver", 'transport "own" has no receiver'],
    ["sender", 'transport "own" has no sender'],
  ])("fails the start: a %s", async (part, said) => {
    const options = withPart(part, {});
    const transports: MemoryBridgeOptions["transports"] = (memory) => {
      const { [part]: _, ...others } = memory;
      return [{ ...others, type: "own" }];
    };
    expect(await refusal({ ...options, transports })).toContain(said);
  });
});
