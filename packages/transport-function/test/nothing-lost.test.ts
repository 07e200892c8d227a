import type { Delivery, Receiver } from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { source } from "../src/index.ts";
import { HandIterable } from "./support/hand-iterable.ts";
import { ACCEPT, parts, rejection } from "./support/parts.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Plays the engine and the program behind a source, and counts how often each message was settled. */
class Play {
  readonly settled: number[] = [];
  readonly iterables: HandIterable[] = [];
  readonly #parts = parts({ sources: { ticks: source(() => this.#begun()) } });
  readonly #held: Delivery[] = [];
  #receiver: Receiver = this.#parts.receiver("ticks");
  #over = new AbortController();
  #iterator: AsyncIterator<Delivery> | undefined;
  #pending: Promise<void> | undefined;

  #begun(): HandIterable {
    const iterable = new HandIterable();
    this.iterables.push(iterable);
    return iterable;
  }

  ask(): void {
    if (this.#pending !== undefined) return;
    const iterator = (this.#iterator ??= this.#receiver.receive(this.#over.signal)[Symbol.asyncIterator]());
    this.#pending = iterator.next().then(
      ({ done, value }) => {
        this.#pending = undefined;
        if (done !== true) this.#held.push(value);
      },
      () => {
        this.#pending = undefined;
        this.#iterator = undefined;
      },
    );
  }

  /** Any of the iterables, also one that was ended already. */
  give(at: number): void {
    const asked = this.iterables.filter((iterable) => iterable.asked);
    const number = this.settled.push(0) - 1;
    const iterable = asked[at % asked.length];
    if (iterable === undefined) this.settled.pop();
    else iterable.give({ payload: `${number}`, settled: () => void this.settled[number]!++ });
  }

  fail(): void {
    this.iterables.at(-1)?.fail(new Error("away"));
  }

  async settle(at: number): Promise<void> {
    const [delivery] = this.#held.splice(at % Math.max(this.#held.length, 1), 1);
    if (delivery === undefined) return;
    const told = Promise.resolve(delivery.settle(ACCEPT));
    // Refused if it was taken back, and then it comes again.
    if (delivery.signal?.aborted === true) await rejection(told);
    else await told;
  }

  async abort(): Promise<void> {
    this.#over.abort();
    await this.#pending;
    this.#iterator = undefined;
    this.#over = new AbortController();
  }

  async restart(): Promise<void> {
    await this.abort();
    await this.#receiver[Symbol.asyncDispose]();
    this.#receiver = this.#parts.receiver("ticks");
  }

  /** Settles all that there is. */
  async end(): Promise<void> {
    await this.abort();
    for (let quiet = 0; quiet < 3; quiet++) {
      this.ask();
      await turn();
      if (this.#held.length > 0) quiet = 0;
      while (this.#held.length > 0) await this.settle(0);
    }
    await this.restart();
  }
}

test("whatever the engine and the iterable do, each message is settled once, and none is lost", async () => {
  const step = fc.tuple(
    fc.constantFrom("ask", "ask", "give", "give", "settle", "abort", "fail", "restart", "turn"),
    fc.nat(20),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const play = new Play();
      for (const [what, at] of steps) await (what === "turn" ? turn() : play[what](at));
      await play.end();
      expect(play.settled).toEqual(play.settled.map(() => 1));
    }),
    { numRuns: 200 },
  );
});
