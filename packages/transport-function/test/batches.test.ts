import { BridgeError, type Sender } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type BatchFunction, type BatchOptions, handler, type HandlerContext, PermanentError } from "../src/index.ts";
import { envelope, never, parts, rejection } from "./support/parts.ts";

function batching(
  run: BatchFunction,
  options: BatchOptions,
  clock = new ManualClock(),
): { sender: Sender; clock: ManualClock } {
  return { sender: parts({ handlers: { orders: handler.batch(run, options) } }, { clock }).sender("orders"), clock };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function sendAll(sender: Sender, ids: readonly string[], signal = never): readonly Promise<void>[] {
  return ids.map((id) => sender.send(envelope({ id }), "", signal, 2));
}

/** How each of some sends has ended. */
async function endsOf(sends: readonly Promise<void>[]): Promise<readonly unknown[]> {
  const settled = await Promise.allSettled(sends);
  return settled.map((end) => (end.status === "fulfilled" ? "accepted" : (end.reason as unknown)));
}

const five = ["a", "b", "c", "d", "e"];

test("a batch is handed over when it is full, or when its first message has waited long enough", async () => {
  const seen: (readonly string[])[] = [];
  const { sender, clock } = batching((messages) => void seen.push(messages.map(({ id }) => id)), {
    size: 3,
    within: "50ms",
  });
  const sends = sendAll(sender, five);
  expect(seen).toEqual([["a", "b", "c"]]);
  await clock.pass(49);
  expect(seen).toHaveLength(1);
  await clock.pass(1);
  expect(seen).toEqual([
    ["a", "b", "c"],
    ["d", "e"],
  ]);
  expect(await endsOf(sends)).toEqual(five.map(() => "accepted"));
  expect(clock.delays).toBe(0);
});

test("a message that waits for its batch until it is given up comes sooner next time, and not too late again", async () => {
  const seen: (readonly string[])[] = [];
  const clock = new ManualClock();
  const orders = handler.batch((messages) => void seen.push(messages.map(({ id }) => id)), { within: "2s" });
  const { sender: made, lines } = parts({ handlers: { orders } }, { clock });
  const sender = made("orders");
  const late = new AbortController();
  const first = sendAll(sender, ["a"], late.signal);
  await clock.pass(1_000);
  late.abort(new BridgeError("TIMEOUT", "the target did not answer within 1000 ms"));
  expect(await endsOf(first)).toMatchObject([{ code: "TIMEOUT" }]);
  expect(seen).toEqual([]);
  const again = sendAll(sender, ["a", "b"]);
  await clock.pass(500);
  expect(await endsOf(again)).toEqual(["accepted", "accepted"]);
  expect(seen).toEqual([["a", "b"]]);
  expect(lines).toMatchObject([{ level: "warn", fields: { handler: 'handler "orders"', within_ms: 500 } }]);
});

test("a stop that gives up what waits for its batch changes nothing of how long batches wait", async () => {
  const seen: number[] = [];
  const { sender, clock } = batching((messages) => void seen.push(messages.length), { within: "2s" });
  const stop = new AbortController();
  const first = sendAll(sender, ["a"], stop.signal);
  await clock.pass(1_000);
  stop.abort(new Error("the bridge stops"));
  await endsOf(first);
  const again = sendAll(sender, ["a"]);
  await clock.pass(1_999);
  expect(seen).toEqual([]);
  await clock.pass(1);
  expect(await endsOf(again)).toEqual(["accepted"]);
});

test.each<[string, (messages: unknown[]) => unknown]>([
  ["reversed", (messages) => Array.prototype.reverse.call(messages)],
  ["swapped", (messages) => ([messages[0], messages[4]] = [messages[4], messages[0]])],
  ["shortened", (messages) => messages.splice(1)],
])("a list that is %s in place settles no wrong message: it cannot be changed", async (_, change) => {
  const run: BatchFunction = (messages) => {
    change(messages as unknown[]);
    return messages.map(({ id }) => (id === "a" ? new Error("a failed") : undefined));
  };
  const ends = await endsOf(sendAll(batching(run, { size: 5 }).sender, five));
  expect(ends).toEqual(five.map(() => expect.any(TypeError) as unknown));
});

test("messages of a batch say which attempt they are", async () => {
  const attempts: number[] = [];
  const { sender } = batching((messages) => void attempts.push(...messages.map(({ attempt }) => attempt)), { size: 2 });
  expect(await endsOf(sendAll(sender, ["a", "b"]))).toEqual(["accepted", "accepted"]);
  expect(attempts).toEqual([2, 2]);
});

test("each message is settled as the handler says, by itself", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(undefined, new Error("no"), new PermanentError("REJECTED", "never")), {
        minLength: 1,
        maxLength: 20,
      }),
      fc.boolean(),
      async (says, later) => {
        const { sender } = batching(() => (later ? Promise.resolve(says) : says), { size: says.length });
        const ends = await endsOf(says.map((_, index) => sender.send(envelope({ id: `m${index}` }), "", never)));
        expect(ends).toEqual(says.map((error) => error ?? "accepted"));
      },
    ),
  );
});

test.each([new Error("away"), new PermanentError("FORBIDDEN", "no")])(
  "what a handler throws fails each of its messages: %s",
  async (error) => {
    const throws = batching(
      () => {
        throw error;
      },
      { size: 5 },
    );
    expect(await endsOf(sendAll(throws.sender, five))).toEqual(five.map(() => error));
    const rejects = batching(
      async () => {
        throw error;
      },
      { size: 5 },
    );
    expect(await endsOf(sendAll(rejects.sender, five))).toEqual(five.map(() => error));
  },
);

test.each([
  [[], 'handler "orders" returned 0 entries for 2 messages, so nothing says which failed'],
  [[undefined], 'handler "orders" returned 1 entry for 2 messages, so nothing says which failed'],
  [[undefined, undefined, undefined], 'handler "orders" returned 3 entries for 2 messages'],
  [null, 'handler "orders" returned null: it has to return nothing, or an array'],
  [{ rowCount: 2 }, 'handler "orders" returned an object: it has to return nothing'],
  [true, 'handler "orders" returned a boolean: it has to return nothing'],
  ["ok", 'handler "orders" returned a string: it has to return nothing'],
])("what does not say how each message ended accepts none: %j", async (returned, message) => {
  const { sender } = batching(() => returned as never, { size: 2 });
  for (const end of await endsOf(sendAll(sender, ["a", "b"]))) expect((end as Error).message).toContain(message);
});

test("an entry that is neither an error nor undefined fails its message, and no other", async () => {
  const { sender } = batching(() => [undefined, null, "no", { id: 5 }, 0] as never, { size: 5 });
  const [first, ...others] = await endsOf(sendAll(sender, five));
  expect(first).toBe("accepted");
  expect(others.map((end) => (end as Error).message)).toEqual([
    expect.stringContaining("returned null for message 1: it has to be an Error"),
    expect.stringContaining("returned a string for message 2"),
    expect.stringContaining("returned an object for message 3"),
    expect.stringContaining("returned a number for message 4"),
  ]);
});

test("a message that is given up while it waits is not handed over, and does not hold up the others", async () => {
  const seen: string[] = [];
  const { sender, clock } = batching((messages) => void seen.push(...messages.map(({ id }) => id)), { size: 10 });
  const given = new AbortController();
  const [lost] = sendAll(sender, ["lost"], given.signal);
  const others = sendAll(sender, ["a", "b"]);
  const reason = new BridgeError("TIMEOUT", "late");
  given.abort(reason);
  expect(await rejection(lost!)).toBe(reason);
  await clock.pass(10);
  expect(await endsOf(others)).toEqual(["accepted", "accepted"]);
  expect(seen).toEqual(["a", "b"]);
});

test("a batch of which all messages are given up is not handed over", async () => {
  let calls = 0;
  const { sender, clock } = batching(() => void calls++, { size: 10 });
  const given = new AbortController();
  const sends = sendAll(sender, five, given.signal);
  given.abort(new Error("given up"));
  await endsOf(sends);
  expect(clock.delays).toBe(0);
  await clock.pass(100);
  expect(calls).toBe(0);
});

test("the signal of a batch ends when nobody waits for any of its messages, and not before", async () => {
  let context: HandlerContext | undefined;
  const { sender } = batching(
    (_messages, given) => {
      context = given;
      return new Promise((_, reject) =>
        given.signal.addEventListener("abort", () => reject(given.signal.reason as Error)),
      );
    },
    { size: 2 },
  );
  const [first, second] = [new AbortController(), new AbortController()];
  const sends = [...sendAll(sender, ["a"], first.signal), ...sendAll(sender, ["b"], second.signal)];
  first.abort(new Error("first"));
  await turn();
  expect(context?.signal.aborted).toBe(false);
  const reason = new Error("second");
  second.abort(reason);
  expect(context?.signal.reason).toBe(reason);
  expect(await endsOf(sends)).toEqual([reason, reason]);
});

test("a signal of a batch that is asked for late has ended if it was time", async () => {
  let context: HandlerContext | undefined;
  const { sender } = batching(
    (_messages, given) => {
      context = given;
      return new Promise(() => {});
    },
    { size: 1 },
  );
  const given = new AbortController();
  void sendAll(sender, ["a"], given.signal);
  given.abort(new Error("late"));
  expect(context?.signal.aborted).toBe(true);
});

test("a sender that is disposed of hands over nothing more, and ends the signals of what is under way", async () => {
  let calls = 0;
  const { sender, clock } = batching(
    (_messages, { signal }) => {
      calls++;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    },
    { size: 2 },
  );
  const sends = sendAll(sender, ["a", "b", "c"]);
  await sender[Symbol.asyncDispose]();
  for (const end of await endsOf([...sends, ...sendAll(sender, ["d"])]))
    expect(end).toMatchObject({ code: "CONNECTION_LOST", charged: false });
  await clock.pass(1_000);
  expect(calls).toBe(1);
  expect(clock.delays).toBe(0);
});

test("promises in place of ends fail their messages, and one that rejects later does not end the process", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    for (const count of [2, 3]) {
      const wrong = (): unknown => Array.from({ length: count }, () => Promise.reject(new Error("no")));
      const { sender } = batching(wrong as BatchFunction, { size: 2 });
      for (const end of await endsOf(sendAll(sender, ["a", "b"]))) expect(end).toBeInstanceOf(Error);
      await turn();
    }
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
});
