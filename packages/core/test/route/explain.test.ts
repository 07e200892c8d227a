import { silentLogger, type Processor, type SourceMessage, type TransportPlugin } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { Explainer, explain } from "../../src/route/explain.ts";
import { entryOf } from "../dlq-job/job-bridge.ts";
import { bound, memoryBridge, type MemoryBridgeOptions } from "../support/memory-bridge.ts";

const message = { id: "m1", subject: "boiler/7", payload: new TextEncoder().encode("hot"), headers: { device: "7" } };

function explained(options: MemoryBridgeOptions, routeId = "r", changes: Partial<SourceMessage> = {}) {
  const { config, registry, clock, hub } = memoryBridge(options);
  const random = { next: () => 0.5, id: () => "minted" };
  const given = { ...message, ...changes };
  const explanation = explain(
    { config, registry, clock, random, logger: silentLogger, routeId, message: given },
    bound(),
  );
  return { explanation, hub };
}

const change: Processor = { process: (envelope) => ({ kind: "pass", envelope: { ...envelope, subject: "changed" } }) };
const pass: Processor = { process: (envelope) => ({ kind: "pass", envelope }) };
const filter: Processor = { process: () => ({ kind: "filter", reason: "not an alarm" }) };

/** A transport whose parts are named when they are built, and when they are ended, which fails. */
function counting(memory: TransportPlugin, built: string[], ended: string[]): TransportPlugin {
  const { session, receiver, sender } = memory;
  if (session === undefined || receiver === undefined || sender === undefined) throw new Error("not all parts");
  const counted = <Part extends AsyncDisposable>(kind: string, part: Part): Part => {
    built.push(kind);
    const end = (): Promise<void> => {
      ended.push(kind);
      throw new Error("rude");
    };
    return Object.assign(part, { [Symbol.asyncDispose]: end });
  };
  return {
    ...memory,
    type: "counting",
    session: { ...session, create: (options, context) => counted("session", session.create(options, context)) },
    receiver: { ...receiver, create: (options, context) => counted("receiver", receiver.create(options, context)) },
    sender: { ...sender, create: (options, context) => counted("sender", sender.create(options, context)) },
  };
}

describe("what a route would do with a message", () => {
  test("which processors did what, the bindings chosen and their addresses; nothing is sent", async () => {
    const { explanation, hub } = explained({
      processors: [pass, change],
      dispatchMode: "fan_out",
      bindings: ["a", "b"],
      config: (config) => ({
        ...config,
        bindings: config.bindings.map((binding) => ({ ...binding, address: `${binding.id}/{device}/{$subject}` })),
      }),
    });
    expect(await explanation).toMatchObject({
      received: { subject: "boiler/7" },
      processors: [
        { id: "p0", did: "passed" },
        { id: "p1", did: "changed" },
      ],
      sent: { subject: "changed" },
      bindings: [
        { id: "a", address: "a/7/changed" },
        { id: "b", address: "b/7/changed" },
      ],
    });
    expect([hub.channel("a").arrived, hub.channel("b").arrived]).toEqual([0, 0]);
  });

  test("every part that was built for it is ended, also after one that fails to", async () => {
    const built: string[] = [];
    const ended: string[] = [];
    const part: Processor & AsyncDisposable = {
      ...pass,
      async [Symbol.asyncDispose]() {
        ended.push("processor");
      },
    };
    const transport = { transport: "counting" };
    const { explanation } = explained({
      session: true,
      processors: [part, { ...part }],
      transports: (memory) => [counting(memory, built, ended)],
      config: (config) => ({
        ...config,
        sessions: config.sessions.map((session) => ({ ...session, ...transport })),
        receivers: config.receivers.map((receiver) => ({ ...receiver, ...transport })),
        senders: config.senders.map((sender) => ({ ...sender, ...transport })),
      }),
    });
    await explanation;
    expect(new Set(built)).toEqual(new Set(["session", "receiver", "sender"]));
    expect(ended.toSorted()).toEqual([...built, "processor", "processor"].toSorted());
  });

  test("not the address of a binding that came in through a reference", async () => {
    const { explanation } = explained({
      config: (config) => ({
        ...config,
        bindings: config.bindings.map((binding) => ({ ...binding, hidesAddress: true as const })),
      }),
    });
    expect(await explanation).toMatchObject({ bindings: [{ id: "out", address: "[REDACTED]" }] });
  });

  test("why it would go nowhere: filtered, a processor that fails, no binding, no address, no such route", async () => {
    expect(await explained({ processors: [filter, change] }).explanation).toMatchObject({
      processors: [{ id: "p0", did: "filtered" }],
      bindings: [],
      error: { code: "MESSAGE_FILTERED", message: "processor p0: not an alarm" },
    });
    const failing: Processor = { process: () => Promise.reject(new Error("rude")) };
    expect(await explained({ processors: [pass, failing, change] }).explanation).toMatchObject({
      processors: [
        { id: "p0", did: "passed" },
        { id: "p1", did: "failed", error: { code: "INTERNAL" } },
      ],
      bindings: [],
      error: { code: "INTERNAL", message: "processor p1: rude" },
    });
    const none = { type: "rules", rules: [], defaultBindings: [] } as const;
    expect(await explained({ resolver: none }).explanation).toMatchObject({
      bindings: [],
      error: { code: "BINDING_UNRESOLVED" },
    });
    const unnamed = explained({
      config: (config) => ({
        ...config,
        bindings: config.bindings.map((binding) => ({ ...binding, address: "{missing}" })),
      }),
    });
    expect(await unnamed.explanation).toMatchObject({
      bindings: [{ id: "out", error: { code: "BINDING_UNRESOLVED" } }],
    });
    await expect(explained({}, "nowhere").explanation).rejects.toMatchObject({
      kind: "not_found",
      message: expect.stringMatching(/nowhere.*\br\b/) as string,
    });
  });

  test("not one that has expired, or that is not what it should be: no processor sees it", async () => {
    for (const [changes, code] of [
      [{ expiresAt: 1 }, "MESSAGE_EXPIRED"],
      [{ correlationId: "c".repeat(10_000) }, "INVALID_PAYLOAD"],
      [{ correlationId: "c".repeat(10_000), expiresAt: 1 }, "INVALID_PAYLOAD"],
    ] as const) {
      const { explanation } = explained({ processors: [pass] }, "r", changes);
      expect(await explanation).toMatchObject({ processors: [], bindings: [], error: { code } });
    }
  });
});

describe("what a redrive of a dead letter would do", () => {
  const resolver = { type: "static", bindings: ["a"] } as const;

  async function replayed(onlyBinding: string, changes: Parameters<typeof entryOf>[1] = {}) {
    const { config, registry, clock } = memoryBridge({ bindings: ["a", "b"], resolver });
    const random = { next: () => 0.5, id: () => "minted" };
    await using explainer = await Explainer.of({ config, registry, clock, random, logger: silentLogger }, bound());
    return await explainer.replay(entryOf(1, changes), onlyBinding, bound());
  }

  test("it goes to the binding that failed, past the resolver, and to those chosen for it when it failed at none", async () => {
    expect(await replayed("b")).toMatchObject({
      received: { id: "minted" },
      bindings: [{ id: "b", address: "b" }],
    });
    expect(await replayed("", { bindingId: "" })).toMatchObject({ bindings: [{ id: "a", address: "a" }] });
  });

  test("nothing, when its route or that binding is not there", async () => {
    expect(await replayed("c")).toBeUndefined();
    expect(await replayed("b", { routeId: "gone" })).toBeUndefined();
  });

  test("it is refused when it has expired", async () => {
    const { envelope } = entryOf(1);
    expect(await replayed("b", { envelope: { ...envelope, expiresAt: 1 } })).toMatchObject({
      bindings: [],
      error: { code: "MESSAGE_EXPIRED" },
    });
  });
});
