/** MQTT to SQS as one would write it by hand: what comes in one turn is sent together, and acknowledged when SQS has it. @module */
import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { connect } from "mqtt";
import { generate } from "mqtt-packet";
import { ready } from "../harness/answer.ts";
import { queueUrl } from "../load/sqs-peer.ts";
import { routeJob } from "../suite/route-job.ts";
import { handMadeClient } from "./sqs-client.ts";

const { from, to, window } = routeJob();
const HELD = new Error("held");
const MessageAttributes = { "payload-encoding": { DataType: "String", StringValue: "base64" } };

const client = handMadeClient();
const target = queueUrl(to.port, to.name);
const source = connect(`mqtt://127.0.0.1:${from.port}`, {
  protocolVersion: 5,
  clientId: "script",
  clean: false,
  properties: { receiveMaximum: window, sessionExpiryInterval: 3_600 },
});

let held = 0;
let readOn: (() => void) | undefined;
let batch: { readonly payload: Buffer; readonly messageId: number }[] = [];

async function flush(): Promise<void> {
  const messages = batch;
  batch = [];
  if (messages.length === 0) return;
  const { stream } = source;
  const Entries = messages.map(({ payload }, index) => ({
    Id: String(index),
    MessageBody: payload.toString("base64"),
    MessageAttributes,
  }));
  const { Successful = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: target, Entries }));
  held -= messages.length;
  readOn?.();
  if (source.stream !== stream) return;
  for (const { Id } of Successful) {
    const messageId = messages[Number(Id)]?.messageId ?? 0;
    stream.write(generate({ cmd: "puback", messageId, reasonCode: 0 }, { protocolVersion: 5 }));
  }
}

source.handleMessage = (packet, done) => {
  held++;
  const size = batch.push({ payload: packet.payload as Buffer, messageId: packet.messageId ?? 0 });
  if (size === 10) void flush();
  else if (size === 1) setImmediate(() => void flush());
  // Without an error the library acknowledges by itself, and without an answer it reads no further.
  readOn = () => {
    readOn = undefined;
    done(HELD);
  };
  if (held < window) readOn();
};

await source.subscribeAsync(from.name, { qos: 1 });
ready();
