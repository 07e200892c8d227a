import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BridgeView } from "../../src/view/bridge-view.ts";
import { HandSource } from "../support/hand-source.ts";
import { bound, memoryBridge, type MemoryBridge } from "../support/memory-bridge.ts";

const thrower = (): never => {
  throw new TypeError("looked at");
};
const unreadable = new Proxy({}, { get: thrower, has: thrower, ownKeys: thrower, getPrototypeOf: thrower });

/** Made anew each time: some can be used only once. */
const RUDE: Readonly<Record<string, () => unknown>> = {
  missing: () => undefined,
  null: () => null,
  number: () => 5,
  nan: () => Number.NaN,
  bigint: () => 10n,
  text: () => "text",
  symbol: () => Symbol("s"),
  function: () => thrower,
  object: () => ({ toString: thrower }),
  list: () => [1, 2],
  map: () => new Map([["a", "b"]]),
  date: () => new Date(Number.NaN),
  unreadable: () => unreadable,
  proxy: () => new Proxy(new Uint8Array([1]), {}),
  buffer: () => new ArrayBuffer(3),
  words: () => new Uint16Array([1, 2]),
  detached: () => {
    const given = new Uint8Array([1, 2, 3]);
    structuredClone(given.buffer, { transfer: [given.buffer] });
    return given;
  },
  resizable: () => new Uint8Array(new ArrayBuffer(3, { maxByteLength: 8 })),
  shared: () => new Uint8Array(new SharedArrayBuffer(3)),
  evil: () =>
    new (class extends Uint8Array {
      override get length(): number {
        return thrower();
      }
    })(3),
};

/** By name, because the generator looks at what it generates. */
const rude = fc.constantFrom(...Object.keys(RUDE)).map((name) => ({ rude: name }));
type Part = string | { readonly rude: string };
const made = (part: Part): unknown => (typeof part === "string" ? part : RUDE[part.rude]?.());
const madeAll = (parts: Readonly<Record<string, Part>>): Record<string, unknown> => {
  const all: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(parts)) {
    Object.defineProperty(all, name, { enumerable: true, configurable: true, value: made(part) });
  }
  return all;
};

const PARTS = [
  "id",
  "subject",
  "payload",
  "headers",
  "contentType",
  "correlationId",
  "dedupId",
  "orderingKey",
  "expiresAt",
] as const;

/** A message of which each part may be anything, or throw when it is read. */
const rudest = fc.record(
  {
    parts: fc.dictionary(fc.constantFrom(...PARTS), fc.oneof(rude, fc.string()), { maxKeys: 4 }),
    headers: fc.option(
      fc.dictionary(fc.constantFrom("a", "B", "__proto__", "x-bridge.dedup-id", ""), fc.oneof(rude, fc.string())),
      { nil: undefined },
    ),
    throwing: fc.option(fc.constantFrom(...PARTS), { nil: undefined }),
    throwingHeader: fc.boolean(),
  },
  { requiredKeys: ["parts", "headers", "throwing", "throwingHeader"] },
);

function rudeMessage({
  parts,
  headers,
  throwing,
  throwingHeader,
}: typeof rudest extends fc.Arbitrary<infer T> ? T : never) {
  const message: Record<string, unknown> = { subject: "s", payload: Buffer.from("x"), ...madeAll(parts) };
  if (headers !== undefined) message["headers"] = madeAll(headers);
  if (throwingHeader) message["headers"] = Object.defineProperty({}, "h", { enumerable: true, get: thrower });
  if (throwing !== undefined) Object.defineProperty(message, throwing, { enumerable: true, get: thrower });
  return message;
}

let plains = 0;

const WELL: Pick<BridgeView, "health" | "failures"> & { unaccounted: number; inFlight: number } = {
  unaccounted: 0,
  inFlight: 0,
  health: "ok",
  failures: [],
};

/** Ten plain messages arrive, and nothing of what came before is left. */
async function afterTen({ hub, supervisor, clock, config }: MemoryBridge, source: HandSource): Promise<typeof WELL> {
  const bindings = config.routes[0]?.bindings ?? [];
  const targets = config.routes[0]?.dispatchMode === "single" ? bindings.slice(0, 1) : bindings;
  const before = targets.map((id) => hub.channel(id).arrived);
  for (let at = 0; at < 10; at++) source.plain(`plain-${plains++}`);
  await clock.until(() => targets.every((id, at) => hub.channel(id).arrived >= (before[at] ?? 0) + 10), 1);
  await clock.until(() => supervisor.stats().legs.every((leg) => leg.inFlight === 0 && leg.inOutbox === 0), 1);
  const { unaccounted, routes } = supervisor.stats();
  const { health, failures } = supervisor.view();
  for (const id of targets) hub.channel(id).drain();
  return { unaccounted, inFlight: routes[0]?.inFlight ?? 0, health, failures };
}

const MODES = (["direct_hold", "shared_outbox"] as const).flatMap((deliveryMode) =>
  (["single", "fan_out"] as const).map((dispatchMode) => ({ deliveryMode, dispatchMode })),
);

describe("finding 1.3: the rudest message hurts nobody but itself", () => {
  test.each(MODES)("$deliveryMode, $dispatchMode", async (mode) => {
    const source = new HandSource();
    const policy = { maxInFlight: 3 };
    const bridge = memoryBridge({ ...source.options(), ...mode, bindings: ["out", "out2"], policy });
    await bridge.supervisor.start(bound());
    await fc.assert(
      fc.asyncProperty(rudest, async (drawn) => {
        const before = source.settled.length;
        source.message(rudeMessage(drawn));
        await bridge.clock.until(() => source.settled.length > before, 1);
        expect(await afterTen(bridge, source)).toEqual(WELL);
      }),
      { numRuns: 60 },
    );
    await bridge.supervisor.shutdown();
  });

  test("what is no delivery at all is trouble of its source, and the source is asked again", async () => {
    const source = new HandSource();
    const bridge = memoryBridge({ ...source.options(), policy: { maxInFlight: 2 } });
    await bridge.supervisor.start(bound());
    for (const yielded of [null, 5, "text", {}, unreadable, { message: unreadable, settle: 5 }]) {
      source.anything(yielded);
      await bridge.clock.advance(60_000);
      expect(await afterTen(bridge, source)).toEqual(WELL);
    }
    await bridge.supervisor.shutdown();
  });

  test("a delivery whose message cannot be asked for is abandoned, and its slot is free", async () => {
    const source = new HandSource();
    const bridge = memoryBridge({ ...source.options(), policy: { maxInFlight: 1 } });
    await bridge.supervisor.start(bound());
    const settle = (): void => {};
    const deliveries = [
      Object.defineProperty({ settle }, "message", { get: thrower }),
      Object.defineProperty({ message: {}, settle }, "signal", { get: thrower }),
    ];
    for (const delivery of deliveries) {
      source.anything(delivery);
      expect(await afterTen(bridge, source)).toEqual(WELL);
    }
    await bridge.supervisor.shutdown();
  });

  test("its owner is told what is wrong with it, and what can be kept of it is in the DLQ", async () => {
    const source = new HandSource();
    const bridge = memoryBridge({ ...source.options() });
    await bridge.supervisor.start(bound());
    source.message({ id: "m", subject: "s", payload: "not bytes", headers: { "X-Count": 5, ok: "yes" } });
    await bridge.clock.until(() => source.settled.length === 1, 1);
    const [head] = await bridge.dlq.list({}, { limit: 10, offset: 0 }, bound());
    expect(head).toMatchObject({ errorCode: "INVALID_PAYLOAD", category: "rejected" });
    expect(head?.lastError).toBe(
      'the message is not what its source has to hand over: payload is a string, not a Uint8Array; header "X-Count" is a number, not text',
    );
    const { envelope } = (await bridge.dlq.get(head?.id ?? "", bound())) ?? {};
    expect(Buffer.from(envelope?.payload ?? []).toString()).toBe("not bytes");
    expect({ ...envelope?.headers }).toEqual({ ok: "yes" });
    await bridge.supervisor.shutdown();
  });
});

describe("finding 1.3b: an inject is never delivered as something else", () => {
  const fine = ["null", "number", "text", "list", "resizable", "shared", "evil"];
  const payloads = Object.keys(RUDE).filter((name) => !fine.includes(name));

  test.each(MODES)("$deliveryMode, $dispatchMode: what is no payload rejects with a TypeError", async (mode) => {
    const source = new HandSource();
    const bridge = memoryBridge({ ...source.options(), ...mode, policy: { maxInFlight: 1 } });
    await bridge.supervisor.start(bound());
    for (const name of payloads) {
      const inject = bridge.supervisor.inject("r", { payload: RUDE[name]?.() as Uint8Array }, { signal: bound() });
      const refused = await inject.catch((error: unknown) => error);
      expect({ name, refused }).toEqual({ name, refused: expect.any(TypeError) as unknown });
      expect((refused as TypeError).message).toMatch(/^payload\b/);
    }
    expect(await bridge.dlq.count(1, bound())).toBe(0);
    expect(await afterTen(bridge, source)).toEqual(WELL);
    await bridge.supervisor.shutdown();
  });

  test("text goes as UTF-8, another JSON value as JSON with its content type, without a subject and a signal", async () => {
    const bridge = memoryBridge();
    await bridge.supervisor.start();
    const accepted = ["grüße", { id: 1, items: ["a", null] }, [1], 5, null, true];
    for (const payload of accepted) {
      expect(await bridge.supervisor.inject("r", { payload })).toMatchObject({ outcome: "delivered" });
    }
    await bridge.supervisor.inject("r", { payload: { own: true }, contentType: "application/vnd.own+json" });
    const sent = bridge.hub.channel("out").drain();
    expect(sent.map(({ payload, contentType = "" }) => [new TextDecoder().decode(payload), contentType])).toEqual([
      ["grüße", ""],
      ['{"id":1,"items":["a",null]}', "application/json"],
      ["[1]", "application/json"],
      ["5", "application/json"],
      ["null", "application/json"],
      ["true", "application/json"],
      ['{"own":true}', "application/vnd.own+json"],
    ]);
    await bridge.supervisor.shutdown();
  });

  test("bytes whose memory is shared or can be resized are copied", async () => {
    const bridge = memoryBridge();
    await bridge.supervisor.start(bound());
    for (const name of ["shared", "resizable", "evil"]) {
      const payload = RUDE[name]?.() as Uint8Array;
      await bridge.supervisor.inject("r", { id: name, subject: "s", payload }, { signal: bound() });
    }
    for (const { payload } of bridge.hub.channel("out").drain()) {
      expect(payload).toEqual(new Uint8Array(3));
      expect(payload.buffer).toBeInstanceOf(ArrayBuffer);
    }
    await bridge.supervisor.shutdown();
  });
});
