/** SQS to SQS as one would write it by hand: what was received together is sent together, then deleted. @module */
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
} from "@aws-sdk/client-sqs";
import { ready } from "../harness/answer.ts";
import { queueUrl } from "../load/sqs-peer.ts";
import { routeJob } from "../suite/route-job.ts";
import { handMadeClient } from "./sqs-client.ts";

const { from, to, window } = routeJob();
const [source, target] = [queueUrl(from.port, from.name), queueUrl(to.port, to.name)];
const client = handMadeClient();

async function receive(): Promise<readonly Message[]> {
  const input = { QueueUrl: source, MaxNumberOfMessages: 10, WaitTimeSeconds: 20, VisibilityTimeout: 30 };
  const { Messages = [] } = await client.send(new ReceiveMessageCommand({ ...input, MessageAttributeNames: ["All"] }));
  return Messages;
}

async function work(): Promise<void> {
  for (;;) {
    const messages = await receive();
    if (messages.length === 0) continue;
    const Entries = messages.map(({ Body, MessageAttributes }, index) => ({
      Id: String(index),
      MessageBody: Body,
      MessageAttributes,
    }));
    const { Successful = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: target, Entries }));
    const sent = Successful.map(({ Id }) => ({ Id, ReceiptHandle: messages[Number(Id)]?.ReceiptHandle }));
    await client.send(new DeleteMessageBatchCommand({ QueueUrl: source, Entries: sent }));
  }
}

for (let worker = 0; worker < window / 10; worker++) void work();
ready();
