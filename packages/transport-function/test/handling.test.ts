import { inspect } from "node:util";
import { BridgeError, RESERVED } from "@bridge/ports";
import { expect, test } from "vitest";
import {
  type FunctionMessage,
  handler,
  type HandlerContext,
  type HandlerFunction,
  PermanentError,
} from "../src/index.ts";
import { envelope, never, parts, rejection } from "./support/parts.ts";

const orders = (run: HandlerFunction) => parts({ handlers: { orders: handler(run) } }).sender("orders");

async function received(fields: Parameters<typeof envelope>[0], attempt?: number): Promise<FunctionMessage> {
  let message: FunctionMessage | undefined;
  await orders((given) => (message = given)).send(envelope(fields), "", never, attempt);
  if (message === undefined) throw new Error("the handler was not called");
  return message;
}

test("a handler gets the message with all that it carries", async () => {
  const message = await received(
    {
      contentType: "application/json",
      payload: Buffer.from('{"total":5}'),
      expiresAt: 9,
      headers: {
        plain: "1",
        [RESERVED.orderingKey]: "k",
        [RESERVED.dedupId]: "d",
        [RESERVED.generatedId]: "true",
        [RESERVED.causationId]: "first",
      },
    },
    3,
  );
  expect(message).toMatchObject({
    id: "m1",
    subject: "subject",
    contentType: "application/json",
    correlationId: "m1",
    key: "k",
    dedupId: "d",
    attempt: 3,
    receivedAt: 5,
    expiresAt: 9,
  });
  expect({ ...message.headers }).toEqual({ plain: "1", [RESERVED.causationId]: "first" });
  expect(message.payload).toEqual(new Uint8Array(Buffer.from('{"total":5}')));
  expect(message.text()).toBe('{"total":5}');
  expect(message.json<{ total: number }>().total).toBe(5);
});

test("text is as it was received, a mark at its beginning, too", async () => {
  const message = await received({ payload: Buffer.from("\ufeff5") });
  expect(message.text()).toBe("\ufeff5");
  expect(message.json()).toBe(5);
});

test("console.log shows all of a message", async () => {
  const shown = inspect(await received({ headers: { plain: "1" } }));
  for (const part of ["id: 'm1'", "plain: '1'", "Uint8Array(7)"]) expect(shown).toContain(part);
});

test("a message is a copy: what a handler does to it changes nothing of the bridge's", async () => {
  const headers = { plain: "1" };
  const sent = envelope({ headers, payload: Buffer.from("as it was") });
  const sender = orders((message) => {
    message.payload.fill(0);
    message.headers["plain"] = "2";
    message.headers["more"] = "3";
    Object.assign(message, { id: "other", subject: "other" });
    expect(message.text()).toBe("as it was");
  });
  await sender.send(sent, "", never);
  expect(sent).toEqual(envelope({ headers: { plain: "1" }, payload: Buffer.from("as it was") }));
});

test("headers have no members but those that were sent", async () => {
  const { headers } = await received({
    headers: JSON.parse('{"__proto__":"x","plain":"1"}') as Record<string, string>,
  });
  expect(Object.keys(headers).toSorted()).toEqual(["__proto__", "plain"]);
  expect(headers["constructor"]).toBeUndefined();
});

test.each(["", "{", "\u00ff{}", "undefined"])(
  "a payload that is not JSON (%j) is INVALID_PAYLOAD and not quoted",
  async (payload) => {
    const bytes = Buffer.from(payload, "latin1");
    const sent = orders((message) => message.json()).send(envelope({ payload: bytes }), "", never);
    const error = await rejection(sent);
    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toMatchObject({ code: "INVALID_PAYLOAD", message: "the payload is not JSON in UTF-8" });
  },
);

test("returning accepts, whatever is returned", async () => {
  const accepted: unknown[] = [];
  for (const returned of [undefined, null, 0, false, "no", new Error("returned"), { rows: 1 }, () => {}]) {
    accepted.push(await orders(() => returned).send(envelope(), "", never));
    accepted.push(await orders(async () => returned).send(envelope(), "", never));
  }
  expect(accepted).toEqual(Array.from({ length: 16 }, () => undefined));
});

test("a message is accepted when the handler has ended, and not before", async () => {
  const work = Promise.withResolvers<void>();
  let told = false;
  const sent = orders(() => work.promise)
    .send(envelope(), "", never)
    .then(() => (told = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toBe(false);
  work.resolve();
  await sent;
});

test("an error that is thrown reaches the engine as it is, with its stack", async () => {
  const thrown = [
    new Error("away"),
    new PermanentError("FORBIDDEN", "no"),
    new PermanentError("REJECTED", "no"),
    new BridgeError("THROTTLED", "later", { retryAfterMs: 7 }),
  ];
  for (const error of thrown) {
    expect(await rejection(orders(() => Promise.reject(error)).send(envelope(), "", never))).toBe(error);
    const throwing = orders(() => {
      throw error;
    });
    expect(await rejection(throwing.send(envelope(), "", never))).toBe(error);
  }
});

test("what is thrown and is no error is named, with the handler that threw it", async () => {
  for (const [thrown, named] of [
    [null, "null"],
    [undefined, "undefined"],
    ["boom", "a text: boom"],
    [5, "a number"],
    [{ code: 1 }, "an object"],
  ] as const) {
    const error = await rejection(orders(() => Promise.reject(thrown)).send(envelope(), "", never));
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toBe(
      `handler "orders" threw ${named}; throw an Error, so that it can be seen where`,
    );
    expect((error as Error).cause).toBe(thrown);
  }
});

test("the signal ends when the send is given up, with the reason, and not because of another send", async () => {
  const signals: AbortSignal[] = [];
  const sender = orders(async (_message, { signal }) => {
    signals.push(signal);
    if (signals.length === 1) return;
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  });
  // The engine uses a signal again when the send before has ended.
  const engine = new AbortController();
  await sender.send(envelope(), "", engine.signal);
  const sent = sender.send(envelope(), "", engine.signal);
  const reason = new BridgeError("TIMEOUT", "late");
  engine.abort(reason);
  expect(await rejection(sent)).toBe(reason);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
  expect(signals[1]?.reason).toBe(reason);
});

test("a signal that is asked for late has ended if it was time", async () => {
  const engine = new AbortController();
  let context: HandlerContext | undefined;
  const sender = orders(async (_message, given) => {
    context = given;
    await new Promise(() => {});
  });
  void sender.send(envelope(), "", engine.signal);
  engine.abort(new BridgeError("TIMEOUT", "late"));
  expect(context?.signal.aborted).toBe(true);
  let ended: HandlerContext | undefined;
  const other = new AbortController();
  await orders((_message, given) => void (ended = given)).send(envelope(), "", other.signal);
  other.abort();
  expect(ended?.signal.aborted).toBe(false);
});

test("a send that was given up ends when its handler does, so that the engine can count those that go on", async () => {
  const engine = new AbortController();
  const work = Promise.withResolvers<void>();
  let ended = false;
  const sent = orders(() => work.promise).send(envelope(), "", engine.signal);
  void sent.then(() => (ended = true));
  engine.abort(new Error("given up"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(false);
  work.resolve();
  await sent;
});

test("a sender that is disposed of calls nothing more, and ends the signals of what is under way", async () => {
  let calls = 0;
  const sender = orders((_message, { signal }) => {
    calls++;
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  });
  const sent = rejection(sender.send(envelope(), "", never));
  await sender[Symbol.asyncDispose]();
  expect(await sent).toMatchObject({ code: "CONNECTION_LOST", charged: false });
  expect(await rejection(sender.send(envelope(), "", never))).toMatchObject({ code: "CONNECTION_LOST" });
  expect(await rejection(sender.send(envelope(), "", AbortSignal.abort()))).toMatchObject({ name: "AbortError" });
  expect(calls).toBe(1);
});

test("a generator function is no handler, because nobody would run it", () => {
  const run = async function* () {
    yield 1;
  };
  const sync = function* () {
    yield 1;
  };
  const remedy = "is given a generator function: nobody iterates what it returns";
  for (const given of [run, sync]) {
    expect(() => handler(given)).toThrow(`handler ${remedy}`);
    expect(() => handler.batch(given as never)).toThrow(`handler.batch ${remedy}`);
  }
});

test("a handler that returns a generator has not handled its message", async () => {
  const run = async function* () {
    yield 1;
  };
  for (const given of [() => run(), async () => run()])
    expect(String(await rejection(orders(given).send(envelope(), "", never)))).toContain("it returned a generator");
  await orders(() => [1]).send(envelope(), "", never);
});

test("every member of a message can be changed, and the next attempt has it as it was", async () => {
  const seen: unknown[] = [];
  const sender = orders((message) => {
    seen.push(message.headers["color"], message.payload.length);
    message.headers = { color: "blue" };
    message.payload = Uint8Array.of(1);
    seen.push(message.headers["color"], message.payload.length);
  });
  const sent = envelope({ headers: { color: "red" }, payload: Buffer.from("four") });
  for (let attempt = 1; attempt <= 2; attempt++) await sender.send(sent, "", never, attempt);
  expect(seen).toEqual(["red", 4, "blue", 1, "red", 4, "blue", 1]);
});

test("a permanent failure that says nothing is told by who threw it, under its code", async () => {
  const sender = orders(() => {
    throw new PermanentError("REJECTED", "");
  });
  expect(await rejection(sender.send(envelope(), "", never))).toMatchObject({
    code: "REJECTED",
    message: 'handler "orders" threw an error that says nothing',
  });
});
