import { BridgeError } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { source, type SourceContext, type SourceItem } from "../src/index.ts";
import { HandIterable } from "./support/hand-iterable.ts";
import { ACCEPT, iterate, next, parts, rejection, textOf } from "./support/parts.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function handSource() {
  const iterable = new HandIterable();
  return { iterable, ...parts({ sources: { ticks: source(iterable) } }, { clock: new ManualClock() }) };
}

async function* counting(begin = 1): AsyncGenerator<SourceItem> {
  for (let count = begin; ; count++) yield { payload: `${count}` };
}

describe("asking", () => {
  test("a source is asked for one message at a time, and only when there is room for it", async () => {
    const { iterable, receiver } = handSource();
    const iterator = iterate(receiver("ticks"));
    expect(iterable.asks).toBe(0);
    const first = next(iterator);
    expect(iterable.asks).toBe(1);
    iterable.give({ payload: "a" });
    expect(textOf(await first)).toBe("a");
    await turn();
    expect(iterable.asks).toBe(1);
  });

  test("what was asked for when an iteration ended comes in the next one", async () => {
    const { iterable, receiver } = handSource();
    const ticks = receiver("ticks");
    const over = new AbortController();
    const first = iterate(ticks, over.signal).next();
    over.abort();
    expect((await first).done).toBe(true);
    const second = next(iterate(ticks));
    iterable.give({ payload: "a" });
    expect(textOf(await second)).toBe("a");
    expect(iterable.asks).toBe(1);
  });

  test("two receivers of one source share what it yields, and it goes on when one of them is gone", async () => {
    const { receiver } = parts({ sources: { ticks: source(counting()) } });
    const [one, other] = [receiver("ticks"), receiver("ticks")];
    const texts = [textOf(await next(iterate(one))), textOf(await next(iterate(other)))];
    expect(texts).toEqual(["1", "2"]);
    await other[Symbol.asyncDispose]();
    const iterator = iterate(one);
    expect([textOf(await next(iterator)), textOf(await next(iterator))]).toEqual(["2", "3"]);
  });
});

describe("settling", () => {
  test("the callback hears what became of a message, once, as a method of it", async () => {
    const heard: unknown[] = [];
    const item = {
      payload: "a",
      settled(this: unknown, outcome: string) {
        heard.push(this, outcome);
      },
    };
    const once = async function* () {
      yield item;
    };
    const delivery = await next(iterate(parts({ sources: { ticks: source(once) } }).receiver("ticks")));
    await delivery.settle({ ...ACCEPT, outcome: "dead_lettered" });
    expect(heard).toEqual([item, "dead_lettered"]);
    await expect(delivery.settle(ACCEPT)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    expect(heard).toHaveLength(2);
  });

  const settling = async (settled: () => unknown, clock = new ManualClock()) => {
    const once = async function* () {
      yield { payload: "a", settled };
    };
    const { receiver, lines } = parts({ sources: { ticks: source(once) } }, { clock });
    return { delivery: await next(iterate(receiver("ticks"))), lines };
  };
  const failed = (error: string) => ({
    level: "warn",
    message: "settled of a source failed: the message is settled all the same, and does not come again",
    fields: { source: "ticks", envelope_id: "e", outcome: "delivered", error },
  });

  test("a callback that takes its time is waited for", async () => {
    const told = Promise.withResolvers<void>();
    const clock = new ManualClock();
    const settled = (await settling(() => told.promise, clock)).delivery.settle(ACCEPT);
    await clock.pass(9_999);
    told.resolve();
    await settled;
    expect(clock.delays).toBe(0);
  });

  test("a callback that never ends is given up after ten seconds, which the log says", async () => {
    const clock = new ManualClock();
    const { delivery, lines } = await settling(() => new Promise(() => {}), clock);
    const settled = delivery.settle(ACCEPT);
    await clock.pass(10_000);
    await settled;
    expect(lines[0]).toEqual(failed("it has not ended after 10000 ms"));
  });

  test("what a callback throws is one line, with the stack at debug, and the message is settled", async () => {
    const error = new Error("no acknowledgement");
    const failing = [
      (): never => {
        throw error;
      },
      () => Promise.reject(error),
    ];
    for (const settled of failing) {
      const { delivery, lines } = await settling(settled);
      await delivery.settle(ACCEPT);
      expect(lines.map(({ level }) => level)).toEqual(["warn", "debug"]);
      expect(lines[0]).toEqual(failed("no acknowledgement"));
      expect(lines[1]?.fields).toMatchObject({ envelope_id: "e", stack: error.stack });
    }
  });

  test("a callback that throws nothing, or what says nothing, is named", async () => {
    const unspeakable = Object.defineProperty(new Error(), "message", {
      get: () => {
        throw new Error("not even that");
      },
    });
    const { delivery, lines } = await settling(() => Promise.reject(null));
    await delivery.settle(ACCEPT);
    const silent = await settling(() => Promise.reject(unspeakable));
    await silent.delivery.settle(ACCEPT);
    expect([lines[0], silent.lines[0]]).toEqual([
      failed('settled of source "ticks" threw null; throw an Error, so that it can be seen where'),
      failed('settled of source "ticks" threw an error that says nothing'),
    ]);
  });

  test("what a source cannot do is refused", async () => {
    const { delivery } = await settling(() => {});
    await expect(delivery.settle({ kind: "release", delayMs: 5 })).rejects.toMatchObject({ code: "INTERNAL" });
    const error = new BridgeError("ID_CONFLICT", "no");
    await expect(delivery.settle({ kind: "refuse", error })).rejects.toMatchObject({ code: "INTERNAL" });
  });
});

describe("coming again", () => {
  test("what is unsettled when an iteration ends comes first in the next, in its order, and cannot be settled late", async () => {
    const { receiver } = parts({ sources: { ticks: source(counting()) } });
    const ticks = receiver("ticks");
    const over = new AbortController();
    const iterator = iterate(ticks, over.signal);
    const deliveries = [await next(iterator), await next(iterator), await next(iterator)];
    await deliveries[1]!.settle(ACCEPT);
    over.abort();
    expect(deliveries.map(({ signal }) => signal?.aborted)).toEqual([true, true, true]);
    await expect(deliveries[0]!.settle(ACCEPT)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    const again = iterate(ticks);
    expect([textOf(await next(again)), textOf(await next(again)), textOf(await next(again))]).toEqual(["1", "3", "4"]);
  });

  test("what is handed back twice is still in its order", async () => {
    const ticks = parts({ sources: { ticks: source(counting()) } }).receiver("ticks");
    for (const count of [3, 1, 2]) {
      const over = new AbortController();
      const iterator = iterate(ticks, over.signal);
      for (let taken = 1; taken <= count; taken++) expect(textOf(await next(iterator))).toBe(`${taken}`);
      over.abort();
    }
    const last = iterate(ticks);
    for (const text of ["1", "2", "3", "4"]) expect(textOf(await next(last))).toBe(text);
  });

  test("what was under way when a source failed, and is not settled at a stop, comes again", async () => {
    let begun = 0;
    const failing = async function* (): AsyncGenerator<SourceItem> {
      yield { payload: `${++begun}` };
      throw new Error("away");
    };
    const { receiver } = parts({ sources: { ticks: source(failing) } });
    const first = receiver("ticks");
    const iterator = iterate(first);
    await next(iterator);
    await rejection(iterator.next());
    await first[Symbol.asyncDispose]();
    const second = iterate(receiver("ticks"));
    expect([textOf(await next(second)), textOf(await next(second))]).toEqual(["1", "2"]);
  });

  test("what is unsettled at a stop comes before what a function that is called again yields", async () => {
    let begun = 0;
    const { receiver } = parts({ sources: { ticks: source(() => counting(++begun * 100)) } });
    const first = receiver("ticks");
    expect(textOf(await next(iterate(first)))).toBe("100");
    await first[Symbol.asyncDispose]();
    const second = iterate(receiver("ticks"));
    expect([textOf(await next(second)), textOf(await next(second))]).toEqual(["100", "200"]);
  });
});

describe("a stop", () => {
  test("return() is called once, and a function's signal ends", async () => {
    let context: SourceContext | undefined;
    const iterable = new HandIterable();
    const begin = (given: SourceContext) => {
      context = given;
      return iterable;
    };
    const { receiver } = parts({ sources: { ticks: source(begin) } }, { clock: new ManualClock() });
    const ticks = receiver("ticks");
    void next(iterate(ticks)).catch(() => {});
    expect(context?.signal.aborted).toBe(false);
    await Promise.all([ticks[Symbol.asyncDispose](), ticks[Symbol.asyncDispose]()]);
    expect(context?.signal.reason).toMatchObject({
      code: "CONNECTION_LOST",
      message: 'source "ticks" is read no more',
    });
    expect(iterable.returns).toBe(1);
  });

  test("a generator closes what it has open before the receiver is disposed of", async () => {
    let closed = false;
    const opening = async function* (): AsyncGenerator<SourceItem> {
      try {
        yield* counting();
      } finally {
        await turn();
        closed = true;
      }
    };
    const ticks = parts({ sources: { ticks: source(opening) } }).receiver("ticks");
    await next(iterate(ticks));
    await ticks[Symbol.asyncDispose]();
    expect(closed).toBe(true);
  });

  test.each([
    ["never ends", () => new Promise<never>(() => {}), "it is still at work after 1000 ms; let it heed its signal"],
    ["rejects", () => Promise.reject(new Error("stuck")), "stuck"],
    [
      "throws",
      () => {
        throw new Error("stuck");
      },
      "stuck",
    ],
  ] as const)(
    "a return() that %s does not hold up a stop for more than a second, and is told",
    async (_, onReturn, error) => {
      const iterable = new HandIterable();
      iterable.onReturn = onReturn;
      const clock = new ManualClock();
      const { receiver, lines } = parts({ sources: { ticks: source(iterable) } }, { clock });
      const ticks = receiver("ticks");
      void next(iterate(ticks)).catch(() => {});
      const disposed = ticks[Symbol.asyncDispose]();
      await clock.pass(1_000);
      await disposed;
      const warning = { level: "warn", message: "source did not end as it should", fields: { source: "ticks", error } };
      expect(lines).toContainEqual(warning);
      expect(clock.delays).toBe(0);
    },
  );

  test("an iterable without return() is left as it is", async () => {
    const iterable = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const { receiver, lines } = parts({ sources: { ticks: source(iterable) } });
    const ticks = receiver("ticks");
    void next(iterate(ticks)).catch(() => {});
    await ticks[Symbol.asyncDispose]();
    expect(lines).toEqual([]);
  });

  test("what comes after a stop is kept for the next start", async () => {
    const iterables = [new HandIterable(), new HandIterable()];
    const begin = (): HandIterable => iterables[begun++]!;
    let begun = 0;
    const { receiver } = parts({ sources: { ticks: source(begin) } });
    const first = receiver("ticks");
    void next(iterate(first)).catch(() => {});
    await first[Symbol.asyncDispose]();
    iterables[0]!.give({ payload: "late" });
    await turn();
    const second = next(iterate(receiver("ticks")));
    expect(textOf(await second)).toBe("late");
    expect(begun).toBe(1);
  });

  test("an iterable that was ended by a stop cannot begin again, and says what to do", async () => {
    const { receiver } = parts({ sources: { ticks: source(counting()) } });
    const first = receiver("ticks");
    await (await next(iterate(first))).settle(ACCEPT);
    await first[Symbol.asyncDispose]();
    const error = await rejection(next(iterate(receiver("ticks"))));
    expect((error as Error).message).toBe(
      'source "ticks" cannot begin again: a stop has ended it; give source() a function that makes a new one',
    );
  });
});

describe("an end", () => {
  test("a source that ends has nothing more to give: nothing is lost with it, and it is told once", async () => {
    let begun = 0;
    const two = async function* (): AsyncGenerator<SourceItem> {
      begun++;
      yield { payload: "a" };
      yield { payload: "b" };
    };
    const { receiver, lines } = parts({ sources: { ticks: source(two) } });
    const ticks = receiver("ticks");
    const over = new AbortController();
    const iterator = iterate(ticks, over.signal);
    expect([textOf(await next(iterator)), textOf(await next(iterator))]).toEqual(["a", "b"]);
    const last = iterator.next();
    await turn();
    over.abort();
    expect((await last).done).toBe(true);
    const again = iterate(ticks);
    expect([textOf(await next(again)), textOf(await next(again))]).toEqual(["a", "b"]);
    void again.next();
    await turn();
    expect(begun).toBe(1);
    const told = { level: "info", message: "source ended: nothing more comes from it", fields: { source: "ticks" } };
    expect(lines).toEqual([told]);
    await ticks[Symbol.asyncDispose]();
  });

  test("a function is called again when the bridge starts again", async () => {
    const one = async function* (): AsyncGenerator<SourceItem> {
      yield { payload: "a" };
    };
    const { receiver } = parts({ sources: { ticks: source(one) } });
    for (let start = 0; start < 2; start++) {
      const ticks = receiver("ticks");
      const iterator = iterate(ticks);
      const delivery = await next(iterator);
      expect(textOf(delivery)).toBe("a");
      await delivery.settle(ACCEPT);
      void iterator.next();
      await turn();
      await ticks[Symbol.asyncDispose]();
    }
  });
});

describe("a failure", () => {
  test("what a source throws ends the iteration, and the function is called again for the next", async () => {
    let begun = 0;
    const error = new Error("away");
    const failing = async function* (): AsyncGenerator<SourceItem> {
      begun++;
      yield { payload: `${begun}` };
      throw error;
    };
    const { receiver } = parts({ sources: { ticks: source(failing) } });
    const ticks = receiver("ticks");
    for (const text of ["1", "2"]) {
      const iterator = iterate(ticks);
      expect(textOf(await next(iterator))).toBe(text);
      expect(await rejection(iterator.next())).toBe(error);
      expect((await iterator.next()).done).toBe(true);
    }
  });

  test("what was under way when a source failed can be settled, and is not handed out again", async () => {
    let begun = 0;
    const failing = async function* (): AsyncGenerator<SourceItem> {
      yield { payload: `${++begun}` };
      if (begun === 1) throw new Error("away");
      yield* counting(10);
    };
    const ticks = parts({ sources: { ticks: source(failing) } }).receiver("ticks");
    const first = iterate(ticks);
    const delivery = await next(first);
    await rejection(first.next());
    await first.return?.();
    const second = iterate(ticks);
    expect(textOf(await next(second))).toBe("2");
    expect(delivery.signal?.aborted).toBe(false);
    await delivery.settle(ACCEPT);
    expect(textOf(await next(second))).toBe("10");
  });

  test("what is abandoned between a failure and the next iteration comes again in that", async () => {
    let begun = 0;
    const failing = async function* (): AsyncGenerator<SourceItem> {
      yield { payload: `${++begun}` };
      throw new Error("away");
    };
    const ticks = parts({ sources: { ticks: source(failing) } }).receiver("ticks");
    const over = new AbortController();
    const first = iterate(ticks, over.signal);
    await next(first);
    await rejection(first.next());
    over.abort();
    const second = iterate(ticks);
    expect([textOf(await next(second)), textOf(await next(second))]).toEqual(["1", "2"]);
    expect(getEventListeners(over.signal, "abort")).toEqual([]);
  });

  test("an iterable that has failed and cannot begin again says so, with what it has failed with", async () => {
    const { iterable, receiver } = handSource();
    const ticks = receiver("ticks");
    const failed = rejection(next(iterate(ticks)));
    iterable.fail(new Error("away"));
    expect(await failed).toMatchObject({ message: "away" });
    expect(await rejection(next(iterate(ticks)))).toMatchObject({
      message:
        'source "ticks" cannot begin again: it has failed with away; give source() a function that makes a new one',
    });
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("away");
      },
      "away",
    ],
    [
      "throws nothing",
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(null) }) }),
      'source "ticks" threw null',
    ],
    ["returns nothing", () => undefined, 'source "ticks" is a function that returned undefined, not an async iterable'],
    ["returns an array", () => [1], 'source "ticks" is a function that returned an array, not an async iterable'],
    [
      "is async",
      async () => counting(),
      "returned a Promise, not an async iterable: make it an async generator, async function*",
    ],
    [
      "has no iterator",
      () => ({ [Symbol.asyncIterator]: () => 5 }),
      'source "ticks" is no async iterable: its iterator is a number, without next()',
    ],
    ["has no next", () => ({ [Symbol.asyncIterator]: () => ({}) }), "its iterator is an object, without next()"],
    [
      "throws in next",
      () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            throw new Error("in next");
          },
        }),
      }),
      "in next",
    ],
    [
      "gives no result",
      () => ({ [Symbol.asyncIterator]: () => ({ next: async () => 5 }) }),
      'source "ticks" is no async iterable: its next() gave a number',
    ],
  ])("a function that %s is a source that has failed, and is called again", async (_, begin, message) => {
    let begun = 0;
    const from = (): never => {
      begun++;
      return begin() as never;
    };
    const ticks = parts({ sources: { ticks: source(from) } }).receiver("ticks");
    for (let tries = 1; tries <= 2; tries++) {
      expect(((await rejection(next(iterate(ticks)))) as Error).message).toContain(message);
      expect(begun).toBe(tries);
    }
  });

  test("a source that was lost is there again when it has been asked for five seconds without failing", async () => {
    const clock = new ManualClock();
    let begun = 0;
    const quiet = () => {
      if (++begun === 1) throw new Error("away");
      return new HandIterable();
    };
    const ticks = parts({ sources: { ticks: source(quiet) } }, { clock }).receiver("ticks");
    let present = 0;
    const asked = async (given: AbortSignal): Promise<unknown> => {
      const iterable = ticks.receive(given, () => void present++);
      return iterable[Symbol.asyncIterator]().next();
    };
    await rejection(asked(new AbortController().signal));
    expect(clock.delays).toBe(0);
    const over = new AbortController();
    const second = asked(over.signal);
    await clock.pass(4_999);
    expect(present).toBe(0);
    await clock.pass(1);
    expect(present).toBe(1);
    over.abort();
    await second;
    const third = new AbortController();
    void asked(third.signal);
    expect(clock.delays).toBe(0);
    third.abort();
  });
});
