import type { Call } from "@bridge/tooling/strict-sqs";
import { describe, expect, test } from "vitest";
import { ACCEPT, accept, take, until } from "../support/parts.ts";
import { stage } from "../support/stage.ts";

const EXTENDS = "ChangeMessageVisibilityBatch";
const entries = ({ input }: Call): readonly unknown[] => input["Entries"] as readonly unknown[];

describe("what is held", () => {
  test("stays hidden for as long as it is held, by one request for ten messages", async () => {
    await using place = await stage({ options: { visibility_timeout: "30s" } });
    await place.publish(...Array.from({ length: 12 }, (_, i) => `m${i}`));
    const held = await take(place.receiving, 12);
    for (let extensions = 12; extensions <= 48; extensions += 12) {
      // No further: a request that is not answered within five seconds is given up.
      await place.pass(15);
      await until(() => place.count("extended") === extensions);
      expect(place.queue.inFlight).toBe(12);
    }
    const requests = place.sqs.calls.filter(({ action }) => action === EXTENDS);
    expect(requests.map((call) => entries(call).length)).toEqual([10, 2, 10, 2, 10, 2, 10, 2]);
    await Promise.all(held.map(accept));
    expect(place.queue.bodies).toEqual([]);
  });

  test("is lost when SQS says that it is not in flight: work on it ends, and its settlement is refused", async () => {
    await using place = await stage({ options: { visibility_timeout: "30s" } });
    await place.publish("a", "b");
    const [first, second] = await take(place.receiving, 2);
    place.sqs.fault = ({ action }) =>
      action === EXTENDS
        ? { kind: "entries", code: "MessageNotInflight", senderFault: true, fails: ({ Id }) => Id === "0" }
        : undefined;
    await place.pass(18);
    await until(() => first!.signal!.aborted);
    await expect(first!.settle(ACCEPT)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    expect(second!.signal!.aborted).toBe(false);
    expect(place.count("lost")).toBe(1);
    expect(place.lines.map(({ message }) => message)).toEqual([
      "the queue has taken a message back before it was settled",
    ]);
  });

  test("is extended again when that has failed for a while", async () => {
    await using place = await stage({ options: { visibility_timeout: "30s" } });
    await place.publish("a");
    const [held] = await take(place.receiving, 1);
    let failures = 0;
    place.sqs.fault = ({ action }) =>
      action === EXTENDS && failures++ < 2 ? { kind: "refuse", code: "ServiceUnavailable", status: 503 } : undefined;
    for (let attempts = 1; attempts <= 3; attempts++) {
      await place.pass(attempts === 1 ? 15 : 3);
      await until(() => failures === attempts && place.count("visibilityRequests") === attempts);
      // The answer has to be there before the next attempt is due.
      await until(() => place.count("extending") === 0);
    }
    expect(place.count("extended")).toBe(1);
    await held!.settle(ACCEPT);
    expect(place.queue.bodies).toEqual([]);
  });

  test("is extended again when SQS does not answer, long before a poll would be given up", async () => {
    await using place = await stage({ options: { visibility_timeout: "30s" } });
    await place.publish("a");
    const [held] = await take(place.receiving, 1);
    let silences = 0;
    place.sqs.fault = ({ action }) => (action === EXTENDS && silences++ === 0 ? { kind: "hang" } : undefined);
    await place.pass(15);
    await until(() => silences === 1);
    await place.pass(9);
    await until(() => place.count("extended") === 1);
    expect(held!.signal!.aborted).toBe(false);
    await held!.settle(ACCEPT);
    expect(place.queue.bodies).toEqual([]);
  });

  test("is lost when nothing could be extended in time, and comes again", async () => {
    await using place = await stage({ options: { visibility_timeout: "30s" } });
    await place.publish("a");
    const [held] = await take(place.receiving, 1);
    place.sqs.fault = ({ action }) => (action === EXTENDS ? { kind: "hang" } : undefined);
    await place.pass(31);
    expect(held!.signal!.aborted).toBe(true);
    const again = take(place.receiving, 1);
    await place.passUntil(() => place.count("received") === 2);
    expect((await again)[0]!.receiveCount).toBe(2);
    await expect(held!.settle(ACCEPT)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  });

  test("is hidden no longer than twelve hours in all", async () => {
    await using place = await stage({ options: { visibility_timeout: "8h" } });
    await place.publish("a");
    const [held] = await take(place.receiving, 1);
    await place.pass(4 * 3_600 + 3); // and not more: the answer has to be there before it is given up
    await until(() => place.count("extended") === 1);
    await place.pass(7.9 * 3_600);
    expect(held!.signal!.aborted).toBe(false);
    await place.pass(0.1 * 3_600);
    expect(held!.signal!.aborted).toBe(true);
    const [{ VisibilityTimeout }] = entries(place.sqs.calls.find(({ action }) => action === EXTENDS)!) as readonly [
      { readonly VisibilityTimeout: number },
    ];
    expect(VisibilityTimeout).toBeGreaterThan(7.9 * 3_600);
  });
});
