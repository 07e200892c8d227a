import { Pool } from "undici";

/** The most messages of one request. */
export const MAX_BATCH = 10;
const CONNECTIONS = 32;
const WAIT_SECONDS = 20;
const HIDDEN_SECONDS = 60;
const BASE64 = { "payload-encoding": { DataType: "String", StringValue: "base64" } };

interface Received {
  readonly Body: string;
  readonly ReceiptHandle: string;
}

/** Just enough of a client of SQS to send and to take messages: the SDK would need as much CPU as what is measured. */
export class SqsPeer {
  readonly #pool: Pool;
  readonly #queueUrl: string;

  constructor(port: number, queue: string) {
    this.#pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS });
    this.#queueUrl = queueUrl(port, queue);
  }

  async create(): Promise<void> {
    await this.#call("CreateQueue", { QueueName: this.#queueUrl.split("/").at(-1) });
  }

  async send(payloads: readonly Buffer[]): Promise<void> {
    const Entries = payloads.map((payload, index) => ({
      Id: String(index),
      MessageBody: payload.toString("base64"),
      MessageAttributes: BASE64,
    }));
    await this.#call("SendMessageBatch", { Entries });
  }

  /** Takes messages for ever, and deletes each. */
  async take(onMessage: (payload: Buffer) => void): Promise<void> {
    for (;;) {
      const answer = await this.#call("ReceiveMessage", {
        MaxNumberOfMessages: MAX_BATCH,
        WaitTimeSeconds: WAIT_SECONDS,
        VisibilityTimeout: HIDDEN_SECONDS,
      });
      const { Messages = [] } = answer as { readonly Messages?: readonly Received[] };
      for (const { Body } of Messages) onMessage(Buffer.from(Body, "base64"));
      if (Messages.length === 0) continue;
      const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      await this.#call("DeleteMessageBatch", { Entries });
    }
  }

  async #call(action: string, input: object): Promise<unknown> {
    const { statusCode, body } = await this.#pool.request({
      path: "/",
      method: "POST",
      headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
      body: JSON.stringify({ QueueUrl: this.#queueUrl, ...input }),
    });
    if (statusCode !== 200) throw new Error(`the emulator answered ${statusCode} to ${action}: ${await body.text()}`);
    return body.json();
  }
}

export function queueUrl(port: number, queue: string): string {
  return `http://127.0.0.1:${port}/000000000000/${queue}`;
}
