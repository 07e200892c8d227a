import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { SuiteClock } from "@bridge/conformance";
import { startStrictSqs, type StrictSqs } from "@bridge/tooling/strict-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLIENT, SILENT } from "../support/client.ts";

const clock = new SuiteClock(Date.now());
let sqs: StrictSqs;
const client = new SQSClient({ ...CLIENT, maxAttempts: 1, logger: SILENT });
beforeAll(async () => void (sqs = await startStrictSqs({ clock })));
afterAll(async () => {
  client.destroy();
  await sqs[Symbol.asyncDispose]();
});

let queues = 0;
const standard = (attributes?: Readonly<Record<string, string>>): string => sqs.createQueue(`s${queues++}`, attributes);
const fifo = (attributes?: Readonly<Record<string, string>>): string =>
  sqs.createQueue(`f${queues++}.fifo`, attributes);

async function send(QueueUrl: string, MessageBody: string, more: Partial<SendMessageCommandInput> = {}): Promise<void> {
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...more }));
}

/** To groups that are the first letters of the bodies. */
async function sendAll(QueueUrl: string, ...bodies: readonly string[]): Promise<void> {
  for (const body of bodies) await send(QueueUrl, body, { MessageGroupId: body[0], MessageDeduplicationId: body });
}

async function receive(QueueUrl: string, more: object = {}): Promise<readonly Message[]> {
  const input = { QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ["All"] as const, ...more };
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ ...input, MessageSystemAttributeNames: ["All"] }),
  );
  return Messages;
}

function remove(QueueUrl: string, { ReceiptHandle }: Message): Promise<unknown> {
  return client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
}

function hide(QueueUrl: string, { ReceiptHandle }: Message, VisibilityTimeout: number): Promise<unknown> {
  return client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));
}

const bodies = (messages: readonly Message[]): readonly (string | undefined)[] => messages.map(({ Body }) => Body);
async function passUntilDone(work: Promise<unknown>): Promise<void> {
  const state = { done: false };
  void work.finally(() => (state.done = true));
  while (!state.done) {
    await clock.pass(100);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const pass = (seconds: number): Promise<void> => clock.pass(seconds * 1_000);

describe("FIFO queues of the double", () => {
  test("hand out several messages of a group at once, in order", async () => {
    const url = fifo();
    await sendAll(url, "a1", "b1", "a2", "a3", "b2");
    expect(bodies(await receive(url))).toEqual(["a1", "b1", "a2", "a3", "b2"]);
  });

  test("lock a group while one of its messages is in flight", async () => {
    const url = fifo();
    await sendAll(url, "a1", "a2", "a3", "b1");
    const [first, second] = await receive(url, { MaxNumberOfMessages: 2 });
    expect(bodies(await receive(url))).toEqual(["b1"]);
    await remove(url, first!);
    expect(bodies(await receive(url))).toEqual([]);
    await remove(url, second!);
    expect(bodies(await receive(url))).toEqual(["a3"]);
  });

  test("show a message again before those behind it", async () => {
    const url = fifo();
    await sendAll(url, "a1", "a2");
    const [first, second] = await receive(url);
    await hide(url, second!, 0);
    expect(bodies(await receive(url))).toEqual([]);
    await hide(url, first!, 0);
    expect(bodies(await receive(url))).toEqual(["a1", "a2"]);
  });

  test("refuse to delete what is visible again", async () => {
    const url = fifo();
    await sendAll(url, "a1");
    const [message] = await receive(url, { VisibilityTimeout: 1 });
    await pass(1.5);
    await expect(remove(url, message!)).rejects.toMatchObject({ name: "InvalidParameterValue" });
    expect(bodies(await receive(url))).toEqual(["a1"]);
    await expect(remove(url, message!)).rejects.toMatchObject({ name: "InvalidParameterValue" });
  });

  test("take a repeat for the same message, in the queue or in each group", async () => {
    const queue = fifo();
    const group = fifo({ DeduplicationScope: "messageGroup" });
    for (const url of [queue, group]) {
      for (const MessageGroupId of ["a", "a", "b"])
        await send(url, "x", { MessageGroupId, MessageDeduplicationId: "d" });
    }
    expect(await receive(queue)).toHaveLength(1);
    expect(await receive(group)).toHaveLength(2);
  });

  test("make a deduplication id of the content only when told to", async () => {
    const url = fifo({ ContentBasedDeduplication: "true" });
    for (let i = 0; i < 2; i++) await send(url, "x", { MessageGroupId: "a" });
    expect(await receive(url)).toHaveLength(1);
    await expect(send(fifo(), "x", { MessageGroupId: "a" })).rejects.toMatchObject({ name: "InvalidParameterValue" });
  });

  test("demand a group, and no delay", async () => {
    await expect(send(fifo(), "x", { MessageDeduplicationId: "d" })).rejects.toMatchObject({
      name: "MissingParameter",
    });
    const delayed = { MessageGroupId: "a", MessageDeduplicationId: "d", DelaySeconds: 1 };
    await expect(send(fifo(), "x", delayed)).rejects.toMatchObject({ name: "InvalidParameterValue" });
  });

  test("give the same answer to the same attempt", async () => {
    const url = fifo();
    await sendAll(url, "a1", "a2");
    const attempt = { ReceiveRequestAttemptId: "r-1" };
    const lost = await receive(url, attempt);
    const again = await receive(url, attempt);
    expect(again.map(({ ReceiptHandle }) => ReceiptHandle)).toEqual(lost.map(({ ReceiptHandle }) => ReceiptHandle));
    expect(await receive(url, { ReceiveRequestAttemptId: "r-2" })).toEqual([]);
  });
});

describe("queues of the double", () => {
  test("count how often a message was handed out, and give it up beyond the redrive policy", async () => {
    const dead = sqs.createQueue("dead");
    const arn = sqs.queue(dead).arn;
    const url = standard({ RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arn, maxReceiveCount: 2 }) });
    await send(url, "x");
    for (const count of ["1", "2"]) {
      const [message] = await receive(url);
      expect(message?.Attributes?.ApproximateReceiveCount).toBe(count);
      await hide(url, message!, 0);
    }
    expect(await receive(url)).toEqual([]);
    expect(bodies(await receive(dead))).toEqual(["x"]);
  });

  test("take a stale receipt of a standard queue, and keep the message", async () => {
    const url = standard();
    await send(url, "x");
    const [stale] = await receive(url, { VisibilityTimeout: 0 });
    const [current] = await receive(url);
    await remove(url, stale!);
    expect(sqs.queue(url).bodies).toEqual(["x"]);
    await remove(url, current!);
    expect(sqs.queue(url).bodies).toEqual([]);
  });

  test("refuse receipts that are none, and changes to what is not in flight", async () => {
    const url = standard();
    await expect(remove(url, { ReceiptHandle: "x" })).rejects.toMatchObject({ name: "ReceiptHandleIsInvalid" });
    await send(url, "x");
    const [message] = await receive(url, { VisibilityTimeout: 0 });
    await expect(hide(url, message!, 10)).rejects.toMatchObject({ name: "MessageNotInflight" });
    const [held] = await receive(url);
    await expect(hide(url, held!, 43_201)).rejects.toMatchObject({ name: "InvalidParameterValue" });
  });

  test("wait for a message, and for one to become visible", async () => {
    const url = standard();
    const waiting = receive(url, { WaitTimeSeconds: 20, VisibilityTimeout: 10 });
    await send(url, "x");
    expect(bodies(await waiting)).toEqual(["x"]);
    const [again, nothing] = [receive(url, { WaitTimeSeconds: 20 }), receive(url, { WaitTimeSeconds: 5 })];
    await passUntilDone(Promise.all([again, nothing]));
    expect([await again, await nothing].map(bodies)).toEqual([["x"], []]);
  });

  test.each([
    ["eleven attributes", Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`a${i}`, text("x")]))],
    ["an empty attribute", { a: text("") }],
    ["a name of AWS", { "AWS.a": text("x") }],
    ["a control character in an attribute", { a: text("\u0001") }],
  ])("refuse %s", async (_, MessageAttributes) => {
    await expect(send(standard(), "x", { MessageAttributes })).rejects.toMatchObject({ name: "InvalidParameterValue" });
  });

  test("refuse characters, delays and sizes that are not allowed", async () => {
    await expect(send(standard(), "\u0001")).rejects.toMatchObject({ name: "InvalidMessageContents" });
    await expect(send(standard(), "x", { DelaySeconds: 901 })).rejects.toMatchObject({ name: "InvalidParameterValue" });
    const small = standard({ MaximumMessageSize: "1024" });
    await expect(send(small, "x".repeat(1_025))).rejects.toMatchObject({ name: "InvalidParameterValue" });
    await send(standard(), "𝒳 and 🚀");
  });

  test("carry out each entry of a batch by itself, and refuse one that is none", async () => {
    const url = fifo();
    const ids = { MessageGroupId: "a", MessageDeduplicationId: "d" };
    const Entries = [
      { Id: "0", MessageBody: "x", ...ids },
      { Id: "1", MessageBody: "y" },
    ];
    const { Successful = [], Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
    expect(Successful.map(({ Id }) => Id)).toEqual(["0"]);
    expect(Failed).toMatchObject([{ Id: "1", Code: "MissingParameter", SenderFault: true }]);
    const batch = (entries: readonly string[]): Promise<unknown> =>
      client.send(
        new DeleteMessageBatchCommand({ QueueUrl: url, Entries: entries.map((Id) => ({ Id, ReceiptHandle: "x" })) }),
      );
    await expect(batch([])).rejects.toMatchObject({ name: "EmptyBatchRequest" });
    await expect(batch(["a", "a"])).rejects.toMatchObject({ name: "BatchEntryIdsNotDistinct" });
    await expect(batch(Array.from({ length: 11 }, (_, i) => `${i}`))).rejects.toMatchObject({
      name: "TooManyEntriesInBatchRequest",
    });
    const large = Array.from({ length: 2 }, (_, i) => ({ Id: `${i}`, MessageBody: "x".repeat(600_000), ...ids }));
    const tooLong = client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: large }));
    await expect(tooLong).rejects.toMatchObject({ name: "BatchRequestTooLong" });
  });

  test("fail as they are told to", async () => {
    const url = standard();
    sqs.fault = () => ({ kind: "refuse", code: "RequestThrottled" });
    await expect(send(url, "x")).rejects.toMatchObject({ name: "RequestThrottled" });
    sqs.fault = () => ({ kind: "lose" });
    await expect(send(url, "x")).rejects.toMatchObject({ code: "ECONNRESET" });
    sqs.fault = undefined;
    expect(sqs.queue(url).bodies).toEqual(["x"]);
    await expect(send(url.replace(/\w+$/, "nowhere"), "x")).rejects.toMatchObject({
      name: "QueueDoesNotExist",
    });
  });
});

function text(StringValue: string): { DataType: string; StringValue: string } {
  return { DataType: "String", StringValue };
}
