import {
  DeleteMessageCommand,
  type Message,
  type MessageAttributeValue,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { SourceMessage } from "@bridge/ports";
import { CLIENT, SILENT } from "./client.ts";

/** Another program at a queue: what it writes and reads is spelled out here once more. */
export class Witness implements Disposable {
  readonly #client = new SQSClient({ ...CLIENT, logger: SILENT });
  readonly #url: string;
  readonly #read: SourceMessage[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  async write(message: SourceMessage, signal: AbortSignal): Promise<void> {
    const text = Buffer.from(message.payload).toString("utf8");
    const isText = text !== "" && !/[^\P{C}\n]/u.test(text) && Buffer.from(text).equals(message.payload);
    const encoding = message.payload.length === 0 ? "empty" : isText ? undefined : "base64";
    const attributes: Readonly<Record<string, string | undefined>> = {
      "message-id": message.id,
      subject: message.subject,
      "content-type": message.contentType,
      "correlation-id": message.correlationId,
      "expires-at": message.expiresAt === undefined ? undefined : new Date(message.expiresAt).toISOString(),
      "payload-encoding": encoding,
      "more-headers": message.headers && JSON.stringify(message.headers),
      ...(!this.#isFifo && { "dedup-id": message.dedupId, "ordering-key": message.orderingKey }),
    };
    const body =
      encoding === undefined ? text : encoding === "empty" ? "-" : Buffer.from(message.payload).toString("base64");
    await this.#client.send(
      new SendMessageCommand({
        QueueUrl: this.#url,
        MessageBody: body,
        MessageAttributes: strings(attributes),
        ...(this.#isFifo && {
          MessageGroupId: message.orderingKey ?? crypto.randomUUID(),
          MessageDeduplicationId: message.dedupId ?? crypto.randomUUID(),
        }),
      }),
      { abortSignal: signal },
    );
  }

  /** All that has been read, once that is `count` messages or more. */
  async read(count: number, signal: AbortSignal): Promise<readonly SourceMessage[]> {
    while (this.#read.length < count) {
      const { Messages = [] } = await this.#client.send(
        new ReceiveMessageCommand({
          QueueUrl: this.#url,
          MaxNumberOfMessages: 10,
          WaitTimeSeconds: 1,
          MessageAttributeNames: ["All"],
          MessageSystemAttributeNames: ["All"],
        }),
        { abortSignal: signal },
      );
      for (const message of Messages) {
        this.#read.push(readable(message));
        const handle = { QueueUrl: this.#url, ReceiptHandle: message.ReceiptHandle };
        await this.#client.send(new DeleteMessageCommand(handle), { abortSignal: signal });
      }
    }
    return [...this.#read];
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }

  get #isFifo(): boolean {
    return this.#url.endsWith(".fifo");
  }
}

function strings(values: Readonly<Record<string, string | undefined>>): Record<string, MessageAttributeValue> {
  const present = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(
    present.map(([name, StringValue]) => [name, { DataType: "String", StringValue: StringValue! }]),
  );
}

function readable({ Body = "", MessageAttributes = {}, Attributes = {} }: Message): SourceMessage {
  const {
    "message-id": id,
    subject = "",
    "content-type": contentType,
    "correlation-id": correlationId = id,
    "expires-at": expires,
    "payload-encoding": encoding,
    "dedup-id": dedupId = Attributes["MessageDeduplicationId"],
    "ordering-key": orderingKey = Attributes["MessageGroupId"],
    "more-headers": more = "{}",
    ...headers
  } = Object.fromEntries(Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue!]));
  return {
    id,
    subject,
    contentType,
    correlationId,
    dedupId,
    orderingKey,
    expiresAt: expires === undefined ? undefined : Date.parse(expires),
    headers: { ...headers, ...(JSON.parse(more) as Record<string, string>) },
    payload: encoding === "empty" ? new Uint8Array() : Buffer.from(Body, encoding === "base64" ? "base64" : "utf8"),
  };
}
