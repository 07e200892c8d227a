import { RESERVED } from "@bridge/ports";
import { startStrictSqs, type StrictSqs } from "@bridge/tooling/strict-sqs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { envelope, never, sender, until } from "../support/parts.ts";

const SENDS = "SendMessageBatch";

let sqs: StrictSqs;
let url: string;
beforeEach(async () => {
  sqs = await startStrictSqs();
  url = sqs.createQueue("q");
});
afterEach(async () => sqs[Symbol.asyncDispose]());

const of = (text: string) => envelope({ payload: Buffer.from(text) });
const batches = (): readonly number[] =>
  sqs.calls
    .filter(({ action }) => action === SENDS)
    .map(({ input }) => (input["Entries"] as readonly unknown[]).length);

describe("sends", () => {
  test("that overlap go in batches of ten", async () => {
    await using target = sender({ queue_url: url });
    const texts = Array.from({ length: 25 }, (_, i) => `m${i}`);
    await Promise.all(texts.map((text) => target.send(of(text), "", never())));
    expect(batches()).toEqual([10, 10, 5]);
    expect(sqs.queue(url).bodies.toSorted()).toEqual(texts.toSorted());
    expect(target.counters?.()).toEqual({ sent: 25, sendRequests: 3 });
  });

  test("share a batch up to its largest size", async () => {
    await using target = sender({ queue_url: url });
    await Promise.all(["a", "b", "c"].map((text) => target.send(of(text.repeat(500_000)), "", never())));
    expect(batches()).toHaveLength(2);
    expect(Math.max(...batches())).toBe(2);
  });

  test("go to the binding's address, else to the sender's queue", async () => {
    const other = sqs.createQueue("other");
    await using target = sender({ queue_url: url });
    await target.send(of("a"), other, never());
    await target.send(of("b"), "", never());
    expect([sqs.queue(other).bodies, sqs.queue(url).bodies]).toEqual([["a"], ["b"]]);
    await using homeless = sender();
    await expect(homeless.send(of("c"), "", never())).rejects.toMatchObject({ code: "BINDING_UNRESOLVED" });
    await expect(homeless.send(of("c"), "orders", never())).rejects.toMatchObject({ code: "BINDING_UNRESOLVED" });
  });

  test("to more queues than are remembered arrive too", async () => {
    await using target = sender();
    const urls = Array.from({ length: 120 }, (_, i) => sqs.createQueue(`many-${i}`));
    for (const each of urls) await target.send(of("x"), each, never());
    expect(urls.every((each) => sqs.queue(each).bodies.length === 1)).toBe(true);
    expect(target.counters?.()).toEqual({ sent: 120, sendRequests: 120 });
  });
});

describe("a send that fails", () => {
  test("does so alone when SQS refuses its entry, with the code of that", async () => {
    await using target = sender({ queue_url: url });
    sqs.fault = ({ action }) =>
      action === SENDS
        ? {
            kind: "entries",
            code: "InvalidMessageContents",
            senderFault: true,
            fails: (entry) => entry["MessageBody"] === "bad",
          }
        : undefined;
    const [good, bad] = await Promise.allSettled([of("good"), of("bad")].map((each) => target.send(each, "", never())));
    expect(good?.status).toBe("fulfilled");
    expect(bad).toMatchObject({ reason: { code: "INVALID_PAYLOAD" } });
  });

  test("is told so when the answer does not mention it", async () => {
    await using target = sender({ queue_url: url });
    sqs.fault = () => ({ kind: "entries", code: "", silent: true, fails: (entry) => entry["MessageBody"] === "b" });
    const [a, b] = await Promise.allSettled([of("a"), of("b")].map((each) => target.send(each, "", never())));
    expect(a?.status).toBe("fulfilled");
    expect(b).toMatchObject({ reason: { code: "UNAVAILABLE" } });
  });

  test.each([
    ["gives it no message id", { Successful: [{ Id: "0" }] }],
    ["gives it an empty message id", { Successful: [{ Id: "0", MessageId: "" }] }],
    ["gives it a message id that is none", { Successful: [{ Id: "0", MessageId: 7 }] }],
    [
      "says that it failed, too",
      { Successful: [{ Id: "0", MessageId: "m" }], Failed: [{ Id: "0", Code: "InternalError", SenderFault: false }] },
    ],
  ])("is told so when an answer names it as sent and %s", async (_, answer) => {
    await using target = sender({ queue_url: url });
    sqs.fault = () => ({ kind: "answer", body: JSON.stringify(answer) });
    await expect(target.send(of("a"), "", never())).rejects.toMatchObject({ code: "UNAVAILABLE" });
    sqs.fault = undefined;
    await target.send(of("a"), "", never());
    expect(sqs.queue(url).bodies).toEqual(["a"]);
  });

  test("takes nobody with it when the batch is refused as a whole because of it", async () => {
    await using target = sender({ queue_url: url });
    sqs.fault = ({ input }) =>
      JSON.stringify(input).includes('"bad"') ? { kind: "refuse", code: "InvalidParameterValue" } : undefined;
    const sends = ["a", "bad", "b"].map((text) => target.send(of(text), "", never()));
    const [a, bad, b] = await Promise.allSettled(sends);
    expect([a?.status, b?.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(bad).toMatchObject({ reason: { code: "INVALID_PAYLOAD", class: "rejected" } });
    expect(sqs.queue(url).bodies).toEqual(["a", "b"]);
  });

  test("because the batch is longer than the queue takes is tried by itself, and later batches are smaller", async () => {
    await using target = sender({ queue_url: url });
    sqs.fault = ({ action, input }) => {
      const entries = input["Entries"] as readonly { readonly MessageBody: string }[];
      const size = action === SENDS ? entries.reduce((sum, { MessageBody }) => sum + MessageBody.length, 0) : 0;
      return size > 262_144 ? { kind: "refuse", code: "BatchRequestTooLong" } : undefined;
    };
    const large = ["a", "b", "c"].map((text) => text.repeat(100_000));
    await Promise.all(large.map((text) => target.send(of(text), "", never())));
    expect(batches()).toEqual([3, 1, 1, 1]);
    await Promise.all(large.map((text) => target.send(of(text), "", never())));
    expect(batches().slice(4)).toHaveLength(2);
    expect(Math.max(...batches().slice(4))).toBe(2);
    const tooLarge = target.send(of("d".repeat(300_000)), "", never());
    await expect(tooLarge).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
  });

  test.each([
    ["RequestThrottled", 400, "THROTTLED"],
    ["ServiceUnavailable", 503, "UNAVAILABLE"],
    ["AccessDenied", 403, "FORBIDDEN"],
    ["QueueDoesNotExist", 400, "DESTINATION_NOT_FOUND"],
    ["InvalidClientTokenId", 403, "NOT_AUTHORIZED"],
  ])("with %s fails with all of its batch, after one attempt", async (code, status, expected) => {
    await using target = sender({ queue_url: url });
    sqs.fault = () => ({ kind: "refuse", code, status });
    const sends = await Promise.allSettled(["a", "b"].map((text) => target.send(of(text), "", never())));
    expect(sends).toMatchObject([{ reason: { code: expected } }, { reason: { code: expected } }]);
    expect(batches()).toEqual([2]);
  });

  test("because its answer was lost is transient; sent again to a FIFO queue it is one message", async () => {
    const fifo = sqs.createQueue("q.fifo");
    await using target = sender({ queue_url: fifo });
    let lost = 0;
    sqs.fault = () => (lost++ === 0 ? { kind: "lose" } : undefined);
    const message = envelope({ payload: Buffer.from("a"), headers: { [RESERVED.orderingKey]: "g" } });
    await expect(target.send(message, "", never())).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    await target.send(message, "", never());
    expect(sqs.queue(fifo).bodies).toEqual(["a"]);
  });

  test("because nobody waits for it any more is not sent, or broken off with the last of its batch", async () => {
    await using target = sender({ queue_url: url });
    const controller = new AbortController();
    const queued = target.send(of("never"), "", controller.signal);
    controller.abort(new Error("given up"));
    await expect(queued).rejects.toThrow("given up");
    await expect(target.send(of("never"), "", AbortSignal.abort(new Error("before")))).rejects.toThrow("before");

    sqs.fault = () => ({ kind: "hang" });
    const [first, second] = [new AbortController(), new AbortController()];
    const hung = [first, second].map(({ signal }) => target.send(of("hung"), "", signal));
    await until(() => batches().length === 1);
    first.abort(new Error("first"));
    await expect(hung[0]).rejects.toThrow("first");
    second.abort(new Error("second"));
    await expect(hung[1]).rejects.toThrow("second");
    sqs.fault = undefined;
    await target.send(of("later"), "", never());
    expect(sqs.queue(url).bodies).toEqual(["later"]);
  });

  test("without a connection is CONNECTION_LOST, and so is one to a sender that is closed, uncharged", async () => {
    await using target = sender({ queue_url: "http://127.0.0.1:1/0/q" });
    await expect(target.send(of("a"), "", never())).rejects.toMatchObject({ code: "CONNECTION_LOST", charged: true });
    await target[Symbol.asyncDispose]();
    await expect(target.send(of("a"), "", never())).rejects.toMatchObject({ code: "CONNECTION_LOST", charged: false });
  });
});
