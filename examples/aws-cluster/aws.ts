import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { AwsSecrets } from "@bridge/tooling/aws-secrets";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { buildApp } from "fauxqs";

const SQS_JSON = "application/x-amz-json-1.0";
const ANSWER_MS = 10_000;

/** DynamoDB, SQS, the Parameter Store and Secrets Manager on loopback, as far as their emulators go. */
export interface Aws extends AsyncDisposable {
  /** What makes the SDK of a process come here. */
  readonly env: Readonly<Record<string, string>>;
  /** Of the Parameter Store. */
  readonly parametersUrl: string;
  readonly queueUrl: string;
  setParameter(name: string, value: string): void;
  /** Puts the first document of a bridge, as the README of @bridge/dynamodb says. */
  putConfiguration(table: string, bridgeId: string, document: object): Promise<void>;
  /** Takes what is in the queue; waits a second when it is empty. */
  takeMessages(): Promise<readonly string[]>;
}

export async function openAws(): Promise<Aws> {
  await using opened = new AsyncDisposableStack();
  const secrets = opened.use(await AwsSecrets.start());
  const dynamo = opened.use(await testDynamo());
  const queues = opened.adopt(buildApp({ logger: false }), (app) => app.close());
  await queues.listen({ port: 0, host: "127.0.0.1" });
  const sqs = `http://127.0.0.1:${(queues.server.address() as AddressInfo).port}`;
  const queueUrl = `${sqs}/000000000000/readings`;

  async function call<Answer>(action: string, input: object): Promise<Answer> {
    const headers = { "content-type": SQS_JSON, "x-amz-target": `AmazonSQS.${action}` };
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await fetch(sqs, { method: "POST", headers, body: JSON.stringify(input), signal });
    if (!response.ok) throw new Error(`${action}: ${await response.text()}`);
    return (await response.json()) as Answer;
  }

  await call("CreateQueue", { QueueName: "readings" });
  const all = opened.move();
  return {
    env: { ...secrets.env, AWS_ENDPOINT_URL_DYNAMODB: dynamo.endpoint, AWS_ENDPOINT_URL_SQS: sqs },
    parametersUrl: secrets.url,
    queueUrl,
    setParameter: (name, value) => void secrets.parameters.set(name, { value }),
    async putConfiguration(TableName, bridgeId, document) {
      const client = new DynamoDBClient(dynamo.sdk);
      const Item = { config_key: { S: bridgeId }, part: { S: "document" }, document: { S: JSON.stringify(document) } };
      await client.send(new PutItemCommand({ TableName, Item })).finally(() => client.destroy());
    },
    async takeMessages() {
      type Messages = { readonly Messages?: readonly { readonly Body: string; readonly ReceiptHandle: string }[] };
      const { Messages = [] } = await call<Messages>("ReceiveMessage", { QueueUrl: queueUrl, MaxNumberOfMessages: 10 });
      const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      if (Entries.length === 0) await delay(200);
      else await call("DeleteMessageBatch", { QueueUrl: queueUrl, Entries });
      return Messages.map(({ Body }) => Body);
    },
    [Symbol.asyncDispose]: () => all[Symbol.asyncDispose](),
  };
}
