import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import type { Delivery } from "@bridge/ports";
import { within } from "../harness/within.ts";
import { accept, type Consumer } from "./consumer.ts";
import { textOf } from "./messages.ts";
import { type Check, isBridgeError } from "./check.ts";
import type { Stage } from "./stage.ts";

const RELEASE_DELAY_MS = 300;
/** Timers of the platform may fire this much early. */
const TIMER_SLACK_MS = 5;
/** How many deliveries are held unsettled together. */
const TOGETHER = 50;

export const SOURCE_CHECKS = {
  "what was accepted does not come back": async (stage, signal) => {
    const first = await stage.consumer();
    await stage.publishTexts("a");
    await accept(await first.next(signal), signal);
    await first[Symbol.asyncDispose]();
    const second = await stage.consumer();
    await stage.publishTexts("b");
    await second.acceptAll(["b"], signal);
  },
  "what is unsettled comes back after the consumer has gone": async (stage, signal) => {
    const first = await stage.consumer();
    await stage.publishTexts("a", "b", "c");
    const [settled, ...unsettled] = await first.take(3, signal);
    await accept(settled as Delivery, signal);
    await first[Symbol.asyncDispose]();
    const second = await stage.consumer();
    await stage.publishTexts("d");
    await second.acceptAll([...texts(unsettled), "d"], signal);
  },
  "what is unsettled comes back after the connection was cut": async (stage, signal) => {
    const consumer = await stage.consumer();
    await stage.publishTexts("a", "b", "c");
    const [settled, ...unsettled] = await consumer.take(3, signal);
    await accept(settled as Delivery, signal);
    await cut(stage, unsettled, signal);
    await consumer.session?.up(2, signal);
    // The cut may have caught the settlement on its way: what was settled just before may come back too.
    await consumer.acceptAll(texts(unsettled), signal, texts([settled as Delivery]));
  },
  "a settlement that comes after the connection was cut is refused": async (stage, signal) => {
    const consumer = await stage.consumer();
    await stage.publishTexts("a");
    const delivery = await consumer.next(signal);
    await cut(stage, [delivery], signal);
    await assert.rejects(accept(delivery, signal), isBridgeError);
    await consumer.session?.up(2, signal);
    await assert.rejects(accept(delivery, signal), isBridgeError);
    await consumer.acceptAll(["a"], signal);
  },
  "a delivery that is released comes back": async (stage, signal) => {
    const consumer = await stage.consumer();
    await stage.publishTexts("a");
    await release(await consumer.next(signal), 0, signal);
    await consumer.acceptAll(["a"], signal);
  },
  "a released delivery does not come back before its delay": async (stage, signal) => {
    const consumer = await stage.consumer();
    await stage.publishTexts("a");
    const begun = performance.now();
    await release(await consumer.next(signal), RELEASE_DELAY_MS, signal);
    await consumer.acceptAll(["a"], signal);
    const tookMs = performance.now() - begun;
    assert.ok(tookMs >= RELEASE_DELAY_MS - TIMER_SLACK_MS, `came back after ${tookMs} ms`);
  },
  "receive counts grow": async (stage, signal) => {
    const first = await stage.consumer();
    await stage.publishTexts("a");
    const { receiveCount: before } = await first.next(signal);
    assert.ok(before !== undefined && before >= 1, `the first receive count is ${before}`);
    await first[Symbol.asyncDispose]();
    const second = await stage.consumer();
    const again = await second.next(signal);
    assert.ok((again.receiveCount ?? 0) > before, `receive count ${again.receiveCount} follows ${before}`);
    await accept(again, signal);
  },
  "deliveries held together settle in any order": async (stage, signal) => {
    const first = await stage.consumer();
    const payloads = Array.from({ length: TOGETHER }, (_, i) => `m${i}`);
    await stage.publishTexts(...payloads);
    const held = await first.take(TOGETHER, signal);
    assert.deepEqual(new Set(texts(held)), new Set(payloads));
    await Promise.all(held.toReversed().map((delivery) => accept(delivery, signal)));
    await first[Symbol.asyncDispose]();
    const second = await stage.consumer();
    await stage.publishTexts("later");
    await second.acceptAll(["later"], signal);
  },
  "receive ends when its signal aborts, and can be called again": async (stage, signal) => {
    const consumer = await stage.consumer();
    await consumer.stop(signal);
    const again = new AbortController();
    const iterator = consumer.receiver.receive(again.signal)[Symbol.asyncIterator]();
    const next = iterator.next();
    next.catch(() => {});
    await stage.publishTexts("a");
    const { value } = (await within(next, signal, "a delivery of the second iteration")) as { value: Delivery };
    assert.equal(textOf(value.message), "a");
    await accept(value, signal);
    again.abort();
    assert.equal((await within(iterator.next(), signal, "the second end")).done, true);
  },
  "receive ends at once when its signal has aborted before": async (stage, signal) => {
    const { receiver } = await stage.consumer();
    const iterator = receiver.receive(AbortSignal.abort())[Symbol.asyncIterator]();
    assert.equal((await within(iterator.next(), signal, "the end of receive")).done, true);
  },
  "receive goes on after the connection was cut": async (stage, signal) => {
    const consumer = await stage.consumer();
    await stage.publishTexts("a");
    await consumer.acceptAll(["a"], signal);
    // "a" may come back: the cut may have caught its settlement on its way.
    const later = consumer.acceptAll(["b"], signal, ["a"]);
    later.catch(() => {});
    stage.link("source").cut();
    await consumer.session?.up(2, signal);
    await stage.publishTexts("b");
    await later;
  },
  "leaves no listener on the signal of receive": async (stage, signal) => {
    const consumer = await stage.consumer();
    await passThrough(stage, consumer, 1, signal);
    const few = listeners(consumer.signal);
    await passThrough(stage, consumer, 20, signal);
    assert.ok(listeners(consumer.signal) <= few, "the listeners grow with the messages");
    await consumer.leave(signal);
    assert.equal(listeners(consumer.signal), 0, "listeners stay when receive has ended");
  },
  "disposing the receiver twice is once": async (stage, signal) => {
    const { receiver } = await stage.consumer();
    await within(receiver[Symbol.asyncDispose](), signal, "the receiver to be disposed");
    await within(receiver[Symbol.asyncDispose](), signal, "the receiver to be disposed again");
  },
  "disposing the receiver ends a blocked receive": async (stage, signal) => {
    const consumer = await stage.consumer();
    const blocked = consumer.end(signal);
    await within(consumer.receiver[Symbol.asyncDispose](), signal, "the receiver to be disposed");
    await blocked;
  },
} as const satisfies Record<string, Check>;

/** What has to hold of a source that is excused: what it cannot do, it must not claim. */
export const EXCUSED_SOURCE_CHECKS: { readonly [name in keyof typeof SOURCE_CHECKS]?: Check } = {
  "a delivery that is released comes back": notReleasable,
  "a released delivery does not come back before its delay": notReleasable,
  "receive counts grow": async (stage, signal) => {
    const delivery = await oneDelivery(stage, signal);
    assert.equal(delivery.receiveCount, undefined, "it claims to count");
  },
};

function texts(deliveries: readonly Delivery[]): readonly string[] {
  return deliveries.map(({ message }) => textOf(message));
}

async function notReleasable(stage: Stage, signal: AbortSignal): Promise<void> {
  const delivery = await oneDelivery(stage, signal);
  assert.notEqual(delivery.releasable, true, "it claims to be releasable");
}

async function oneDelivery(stage: Stage, signal: AbortSignal): Promise<Delivery> {
  const consumer = await stage.consumer();
  await stage.publishTexts("a");
  const delivery = await consumer.next(signal);
  await accept(delivery, signal);
  return delivery;
}

/** Cuts the source's connection; resolves when the source has taken the deliveries back. */
async function cut(stage: Stage, deliveries: readonly Delivery[], signal: AbortSignal): Promise<void> {
  stage.link("source").cut();
  for (const { signal: takenBack } of deliveries) {
    assert.ok(takenBack !== undefined, "a delivery of a connection that can be lost has no signal");
    if (!takenBack.aborted) await within(once(takenBack, "abort"), signal, "a delivery's signal to abort");
  }
}

async function release(delivery: Delivery, delayMs: number, signal: AbortSignal): Promise<void> {
  assert.equal(delivery.releasable, true, "the delivery is not releasable");
  const told = Promise.resolve(delivery.settle({ kind: "release", delayMs }));
  await within(told, signal, "the source to take a release");
}

async function passThrough(stage: Stage, consumer: Consumer, count: number, signal: AbortSignal): Promise<void> {
  for (let i = 0; i < count; i++) {
    await stage.publishTexts(`m${i}`);
    await consumer.acceptAll([`m${i}`], signal);
  }
}

function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}
