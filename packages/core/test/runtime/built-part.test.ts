import { describe, expect, test } from "vitest";
import { bound, memoryBridge, type MemoryBridgeOptions } from "../support/memory-bridge.ts";

/** What a plugin's `create` may return in place of a part. */
const WRONG: readonly [string, unknown, string][] = [
  ["nothing", undefined, "has returned nothing"],
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
