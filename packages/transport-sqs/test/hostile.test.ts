import { describeHostileSource, type ServerPlace } from "@bridge/conformance";
import { afterAll } from "vitest";
import { sqsTransport } from "../src/sqs-transport.ts";
import { CLIENT } from "./support/client.ts";
import { startFauxqs } from "./support/fauxqs.ts";
import { sqsPlace } from "./support/sqs-place.ts";

const fauxqs = await startFauxqs();
afterAll(() => fauxqs[Symbol.asyncDispose]());

describeHostileSource("sqs", { plugin: sqsTransport({ client: CLIENT }), openServer: () => ownQueue() });

async function ownQueue(): Promise<ServerPlace> {
  const { source, [Symbol.asyncDispose]: dispose } = await sqsPlace(fauxqs, "standard");
  if (source === undefined) throw new Error("the place has no source");
  const { queue_url: QueueUrl } = source.receiver.options as { readonly queue_url: string };
  return {
    source,
    messages: [...requests()].map((request) => Buffer.from(JSON.stringify({ QueueUrl, ...request }))),
    async write(messages, signal) {
      for (const body of messages) await send(body, signal);
    },
    [Symbol.asyncDispose]: dispose,
  };
}

/** Without a library, which would refuse some of it. */
async function send(body: Uint8Array, signal: AbortSignal): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${fauxqs.port}/`, {
    method: "POST",
    headers: {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": "AmazonSQS.SendMessage",
      authorization:
        "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0",
    },
    body: Buffer.from(body),
    signal,
  });
  await response.arrayBuffer();
}

interface Request {
  readonly MessageBody?: string;
  readonly MessageAttributes?: Readonly<Record<string, object>>;
}

function* requests(): Generator<Request> {
  const attribute = (name: string, value: object): Request => ({
    MessageBody: "hostile",
    MessageAttributes: { [name]: { DataType: "String", StringValue: "v", ...value } },
  });
  for (let code = 0; code < 256; code += 3) {
    const text = `a${String.fromCharCode(code)}b`;
    yield { MessageBody: text };
    yield attribute(text, { StringValue: text });
  }
  const own = ["message-id", "Ordering-Key", "DEDUP-ID", "subject", "content-type", "correlation-id"];
  for (const name of [
    ...own,
    "expires-at",
    "payload-encoding",
    "more-headers",
    "__proto__",
    "constructor",
    "x-bridge.dedup-id",
  ]) {
    for (const text of ["", " ", "{", "null", '{"a":1}', '{"__proto__":"x"}', "\u0000", "\ud800", "v".repeat(2_000)])
      yield attribute(name, { StringValue: text });
    yield attribute(name, { DataType: "Binary", StringValue: undefined, BinaryValue: "AP+A" });
    yield attribute(name, { DataType: "Number", StringValue: "1e400" });
    yield attribute(name, { DataType: "String.custom", StringValue: undefined });
  }
  yield {};
  yield { MessageBody: "" };
  yield { MessageBody: "x".repeat(1_048_576) };
  yield { MessageBody: "x".repeat(1_048_577) };
  yield {
    MessageBody: "%%%",
    MessageAttributes: { "payload-encoding": { DataType: "String", StringValue: "base64" } },
  };
}
