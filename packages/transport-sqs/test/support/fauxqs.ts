import { buildApp } from "fauxqs";
import type { AddressInfo } from "node:net";

/** An emulator of SQS, on loopback. */
export interface Emulator extends AsyncDisposable {
  readonly port: number;
  /** Makes a queue; returns its URL. */
  createQueue(name: string): Promise<string>;
  /** How many messages are in a queue, in flight or not. */
  size(url: string): Promise<number>;
}

export async function startFauxqs(): Promise<Emulator> {
  const app = buildApp({ logger: false });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;

  async function call(action: string, input: object): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
      body: JSON.stringify(input),
    });
    if (!response.ok) throw new Error(`fauxqs: ${await response.text()}`);
    return response.json();
  }

  return {
    port,
    async createQueue(QueueName) {
      await call("CreateQueue", { QueueName, Attributes: QueueName.endsWith(".fifo") ? { FifoQueue: "true" } : {} });
      return `http://127.0.0.1:${port}/000000000000/${QueueName}`;
    },
    async size(QueueUrl) {
      const answer = await call("GetQueueAttributes", { QueueUrl, AttributeNames: ["All"] });
      const { Attributes } = answer as { readonly Attributes: Readonly<Record<string, string>> };
      const { ApproximateNumberOfMessages: ready, ApproximateNumberOfMessagesNotVisible: hidden } = Attributes;
      return Number(ready) + Number(hidden);
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}
