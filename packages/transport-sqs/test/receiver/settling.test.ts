import { describe, expect, test } from "vitest";
import { ACCEPT, accept, take } from "../support/parts.ts";
import { stage } from "../support/stage.ts";

const DELETES = "DeleteMessageBatch";
const many = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `m${i}`);

describe("settling", () => {
  test("deletes in batches of ten", async () => {
    await using place = await stage();
    await place.publish(...many(25));
    const held = await take(place.receiving, 25);
    await Promise.all(held.map(accept));
    expect(place.sqs.calls.filter(({ action }) => action === DELETES)).toHaveLength(3);
    expect(place.queue.bodies).toEqual([]);
    expect(place.receiver.counters?.()).toMatchObject({ deleted: 25, deleteRequests: 3, held: 0 });
  });

  test("tries again what fails for a time, by entry or as a whole", async () => {
    await using place = await stage();
    await place.publish(...many(3));
    const held = await take(place.receiving, 3);
    const faults = [
      { kind: "refuse", code: "ThrottlingException" } as const,
      { kind: "entries", code: "InternalError", fails: ({ Id }: { Id: string }) => Id !== "0" } as const,
      { kind: "entries", code: "", silent: true, fails: ({ Id }: { Id: string }) => Id === "0" } as const,
      { kind: "lose" } as const,
    ];
    place.sqs.fault = ({ action }) => (action === DELETES ? faults.shift() : undefined);
    const settled = Promise.all(held.map(accept));
    await place.passUntil(() => place.count("deleted") === 3);
    await settled;
    expect(faults).toEqual([]);
    expect(place.queue.bodies).toEqual([]);
  });

  test("asks again for a delete that is not answered", async () => {
    await using place = await stage();
    await place.publish("a");
    const [held] = await take(place.receiving, 1);
    let silences = 0;
    place.sqs.fault = ({ action }) => (action === DELETES && silences++ === 0 ? { kind: "hang" } : undefined);
    let settled = false;
    void Promise.resolve(held!.settle(ACCEPT)).then(() => (settled = true));
    await place.passUntil(() => settled);
    expect(place.queue.bodies).toEqual([]);
  });

  test("twice is refused", async () => {
    await using place = await stage();
    await place.publish("a");
    const [held] = await take(place.receiving, 1);
    await held!.settle(ACCEPT);
    await expect(held!.settle(ACCEPT)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    await expect(held!.settle({ kind: "release", delayMs: 0 })).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  });

  test("too late in a FIFO queue is a failure that is reported, though the receiver could not know", async () => {
    await using place = await stage({ fifo: true, receiverSleeps: true, options: { visibility_timeout: "30s" } });
    await place.publish("a1", "a2");
    const [head, tail] = await take(place.receiving, 2);
    await place.pass(31);
    await expect(head!.settle(ACCEPT)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    expect(place.queue.bodies).toEqual(["a1", "a2"]);
    expect(tail!.signal?.aborted).toBe(true);
    expect(place.count("notSettled")).toBe(1);
  });

  test("that is not allowed is told, and the receiver stops taking messages for a while", async () => {
    await using place = await stage();
    await place.publish("a", "b");
    const [held] = await take(place.receiving, 1);
    place.sqs.fault = ({ action }) =>
      action === DELETES ? { kind: "refuse", code: "AccessDenied", status: 403 } : undefined;
    await expect(held!.settle(ACCEPT)).rejects.toMatchObject({ code: "FORBIDDEN" });
    const lost = (async () => {
      for (;;) await take(place.receiving, 1);
    })();
    await expect(lost).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  test("with a release shows the message after the delay, in whole seconds, rounded up", async () => {
    await using place = await stage();
    await place.publish("a");
    const [held] = await take(place.receiving, 1);
    await held!.settle({ kind: "release", delayMs: 1_200 });
    await place.pass(1.5);
    expect(place.queue.inFlight).toBe(1);
    const { input } = place.sqs.calls.findLast(({ action }) => action === "ChangeMessageVisibilityBatch")!;
    expect(input["Entries"]).toMatchObject([{ VisibilityTimeout: 2 }]);
    const again = take(place.receiving, 1);
    await place.passUntil(() => place.count("received") === 2);
    expect((await again)[0]!.receiveCount).toBe(2);
  });

  test("with a release of a day shows it after twelve hours, which is all that SQS can", async () => {
    await using place = await stage();
    await place.publish("a");
    const [held] = await take(place.receiving, 1);
    await held!.settle({ kind: "release", delayMs: 24 * 3_600_000 });
    const { input } = place.sqs.calls.findLast(({ action }) => action === "ChangeMessageVisibilityBatch")!;
    const [{ VisibilityTimeout }] = input["Entries"] as readonly [{ VisibilityTimeout: number }];
    expect(VisibilityTimeout).toBe(43_140);
  });
});
