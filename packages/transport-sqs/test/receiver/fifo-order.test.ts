import type { Delivery } from "@bridge/ports";
import type { Call, Fault } from "@bridge/tooling/strict-sqs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ACCEPT, take, textOf, until } from "../support/parts.ts";
import { type Stage, stage } from "../support/stage.ts";

describe("a group of a FIFO queue", () => {
  test("comes in order, as one ordering key", async () => {
    await using place = await stage({ fifo: true });
    await place.publish("a1", "b1", "a2", "a3");
    const held = await take(place.receiving, 4);
    expect(held.map(textOf)).toEqual(["a1", "b1", "a2", "a3"]);
    expect(held.map(({ message }) => message.orderingKey)).toEqual(["a", "b", "a", "a"]);
  });

  test("whose head is released gives back the rest: handed out or not, it comes again behind the head", async () => {
    await using place = await stage({ fifo: true, maxInFlight: 2 });
    await place.publish("a1", "a2", "a3", "a4");
    const [head, second] = await take(place.receiving, 2);
    await head!.settle({ kind: "release", delayMs: 0 });
    expect(second!.signal?.aborted).toBe(true);
    await expect(second!.settle(ACCEPT)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    const again: string[] = [];
    while (again.length < 4) {
      const [delivery] = await take(place.receiving, 1);
      await delivery!.settle(ACCEPT);
      again.push(textOf(delivery!));
    }
    expect(again).toEqual(["a1", "a2", "a3", "a4"]);
  });

  test("whose head could not be deleted gives back the rest before the failure is told", async () => {
    await using place = await stage({ fifo: true });
    await place.publish("a1", "a2", "b1");
    const [head, tail, other] = await take(place.receiving, 3);
    place.sqs.fault = ({ action }) =>
      action === "DeleteMessageBatch"
        ? { kind: "entries", code: "InvalidParameterValue", senderFault: true, fails: () => true }
        : undefined;
    const order: string[] = [];
    tail!.signal?.addEventListener("abort", () => order.push("tail given back"));
    await Promise.resolve(head!.settle(ACCEPT)).catch(() => order.push("head refused"));
    expect(order).toEqual(["tail given back", "head refused"]);
    expect(other!.signal?.aborted).toBe(false);
  });

  test("that is handed out again is not ours any more", async () => {
    await using place = await stage({ fifo: true });
    await place.publish("a1", "a2");
    const held = await take(place.receiving, 2);
    place.sqs.lapse(place.url);
    expect((await take(place.receiving, 2)).map(textOf)).toEqual(["a1", "a2"]);
    expect(held.every(({ signal }) => signal?.aborted)).toBe(true);
    await expect(held[0]!.settle(ACCEPT)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  });

  test("is never overtaken by its own tail, whatever becomes of its head", async () => {
    const step = fc.constantFrom<Step>("accept", "accept", "release", "restart", "lapse", "deleteFails");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 12 }),
        fc.array(step, { maxLength: 12 }),
        fc.integer({ min: 1, max: 12 }),
        async (groups, script, maxInFlight) => {
          await using place = await stage({ fifo: true, maxInFlight });
          const payloads = groups.map((group, index) => `${group}${index.toString().padStart(2, "0")}`);
          await place.publish(...payloads);
          const handled = handleAll(place, payloads.length, script);
          let done = false;
          void handled.finally(() => (done = true));
          await place.passUntil(() => done);
          const accepted = await handled;
          for (const group of new Set(groups)) {
            const own = (all: readonly string[]): readonly string[] =>
              all.filter((payload) => payload.startsWith(group));
            expect(own(accepted)).toEqual(own(payloads));
          }
        },
      ),
      { numRuns: 20 },
    );
  });
});

/** What becomes of one message; `lapse`: while it is handled, everything that is held is shown to others. */
type Step = "accept" | "release" | "restart" | "lapse" | "deleteFails";

/**
 * Handles what comes as the engine does, of one group one after another, until every message is deleted; returns their
 * payloads in that order.
 */
async function handleAll(place: Stage, count: number, steps: readonly Step[]): Promise<readonly string[]> {
  const script = [...steps];
  const accepted: string[] = [];
  const turns = new Map<string, Promise<void>>();
  let iteration = new AbortController();
  let refused = false;

  async function handle(delivery: Delivery): Promise<void> {
    if (delivery.signal?.aborted === true) return;
    const step = script.shift() ?? "accept";
    if (step === "restart") return iteration.abort();
    if (step === "lapse") place.sqs.lapse(place.url);
    if (step === "deleteFails") place.sqs.fault = refuseOneDelete;
    try {
      await delivery.settle(step === "release" ? { kind: "release", delayMs: 0 } : ACCEPT);
      if (step !== "release") accepted.push(textOf(delivery));
    } catch {
      // Otherwise what was refused, of this message or another, would stay hidden for the rest of its visibility timeout.
      if (refused) place.sqs.lapse(place.url);
      refused = false;
    }
  }

  function refuseOneDelete({ action }: Call): Fault | undefined {
    if (action !== "DeleteMessageBatch") return undefined;
    place.sqs.fault = undefined;
    refused = true;
    return { kind: "entries", code: "ReceiptHandleIsInvalid", senderFault: true, fails: () => true };
  }

  while (accepted.length < count) {
    iteration = new AbortController();
    const stop = until(() => accepted.length === count).then(() => iteration.abort());
    for await (const delivery of place.receiver.receive(iteration.signal)) {
      const group = delivery.message.orderingKey ?? "";
      const turn = (turns.get(group) ?? Promise.resolve()).then(() => handle(delivery));
      turns.set(group, turn);
    }
    if (accepted.length === count) await stop;
  }
  return accepted;
}
