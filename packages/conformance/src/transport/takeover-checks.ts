import assert from "node:assert/strict";
import type { Delivery, SourceMessage } from "@bridge/ports";
import type { Check } from "./check.ts";
import { accept, type Consumer } from "./consumer.ts";
import { bytesOf, textOf } from "./messages.ts";
import type { Stage } from "./stage.ts";

/** Of a source that keeps order by key: its order is that of this one. */
const KEYED = { orderingKey: "takeover" } as const;
const BEFORE = ["a", "b", "c", "d", "e"] as const;
const LATER = "later";

/** Who gets what was handed out and not settled when the one who had it is gone, and in which order. */
export const TAKEOVER_CHECKS = {
  "what a stop leaves unsettled comes back in its order, before what is new": async (stage, signal) => {
    const { consumer, settled, left } = await handedOut(stage, signal, KEYED);
    await consumer[Symbol.asyncDispose]();
    await publish(stage, [LATER], KEYED);
    await acceptInOrder(await stage.consumer(), [...left, LATER], settled, signal);
  },
  "what the end of its process leaves unsettled comes back in its order": async (stage, signal) => {
    const { consumer, settled, left } = await handedOut(stage, signal, KEYED);
    await stage.crash(consumer);
    await acceptInOrder(await stage.consumer(), left, settled, signal);
  },
} as const satisfies Record<string, Check>;

/** For sources that give each message to one of the instances that listen. */
export const COMPETING_CHECKS = {
  "what one instance leaves unsettled reaches another": async (stage, signal) => {
    const { consumer, settled, left } = await handedOut(stage, signal, {}, "one");
    await stage.crash(consumer);
    const other = await stage.consumer("other");
    await other.acceptAll(left, signal, settled);
  },
} as const satisfies Record<string, Check>;

/** What has to hold of a source that is excused: nothing is lost all the same. */
export const EXCUSED_TAKEOVER_CHECKS: {
  readonly [name in keyof typeof TAKEOVER_CHECKS | keyof typeof COMPETING_CHECKS]: Check;
} = {
  "what a stop leaves unsettled comes back in its order, before what is new": async (stage, signal) => {
    const { consumer, settled, left } = await handedOut(stage, signal, {});
    await consumer[Symbol.asyncDispose]();
    await publish(stage, [LATER]);
    await (await stage.consumer()).acceptAll([...left, LATER], signal, settled);
  },
  "what the end of its process leaves unsettled comes back in its order": comesBack,
  "what one instance leaves unsettled reaches another": comesBack,
};

async function comesBack(stage: Stage, signal: AbortSignal): Promise<void> {
  const { consumer, settled, left } = await handedOut(stage, signal, {}, "one");
  await stage.crash(consumer);
  await publish(stage, [LATER]);
  const again = await stage.consumer("one");
  await again.acceptAll([...left, LATER], signal, settled);
}

type Fields = Pick<SourceMessage, "orderingKey">;

interface HandedOut {
  readonly consumer: Consumer;
  /** Payloads, in the order in which they were handed out. */
  readonly settled: readonly string[];
  readonly left: readonly string[];
}

/** A consumer with deliveries of which it has settled the first. */
async function handedOut(stage: Stage, signal: AbortSignal, fields: Fields, replica?: string): Promise<HandedOut> {
  // What waits for a consumer is handed out together, also by sources that hold a key back while one of it is out.
  await (await stage.consumer(replica))[Symbol.asyncDispose]();
  await publish(stage, BEFORE, fields);
  const consumer = await stage.consumer(replica);
  const deliveries = await consumer.take(BEFORE.length, signal);
  const [first, ...left] = deliveries.map(({ message }) => textOf(message));
  await accept(deliveries[0] as Delivery, signal);
  return { consumer, settled: [first ?? ""], left };
}

async function publish(stage: Stage, payloads: readonly string[], fields: Fields = {}): Promise<void> {
  for (const payload of payloads) {
    await stage.publish(stage.message("source", { ...fields, payload: bytesOf(payload) }));
  }
}

/** Accepts until all have come, each for the first time in this order; what is `tolerated` may come in between. */
async function acceptInOrder(
  consumer: Consumer,
  payloads: readonly string[],
  tolerated: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const came: string[] = [];
  while (came.length < payloads.length) {
    const delivery = await consumer.next(signal);
    const payload = textOf(delivery.message);
    await accept(delivery, signal);
    if (tolerated.includes(payload) || came.includes(payload)) continue;
    came.push(payload);
    assert.deepEqual(came, payloads.slice(0, came.length), "what was unsettled came back in another order");
  }
}
