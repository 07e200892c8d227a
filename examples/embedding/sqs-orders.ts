/**
 * Orders out of a FIFO queue of SQS, in order for each customer, into a queue that a shop reads. An emulator stands in for
 * AWS, so that it runs anywhere. `pnpm run sqs-orders` @module
 */
import { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor } from "@bridge/core";
import { memoryDlqPlugin } from "@bridge/dlq-memory";
import { sqsTransport } from "@bridge/transport-sqs";
import { buildApp } from "fauxqs";

const emulator = buildApp({ logger: false });
const endpoint = await emulator.listen({ port: 0, host: "127.0.0.1" });

// On AWS all three are in the environment, and sqsTransport() needs no settings.
const client = { endpoint, region: "eu-central-1", credentials: { accessKeyId: "any", secretAccessKey: "any" } };
const sqs = new SQSClient(client);
const queue = async (QueueName: string, Attributes = {}): Promise<string> =>
  (await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? "";
const orders = await queue("orders.fifo", { FifoQueue: "true" });
const shop = await queue("shop");

const registry = createRegistry({ transports: [sqsTransport({ client })], dlqStores: [memoryDlqPlugin] });
const config = parseConfig(
  {
    bridge: { id: "orders" },
    stores: { dlq: { type: "memory", options: { acknowledge_volatile: true } } },
    receivers: [{ id: "orders", transport: "sqs", options: { queue_url: orders, wait_time: "1s" } }],
    senders: [{ id: "shop", transport: "sqs" }],
    bindings: [{ id: "to-shop", sender_id: "shop", address: shop }],
    routes: [{ id: "orders", receiver_id: "orders", bindings: ["to-shop"] }],
  },
  registry,
);
const bridge = createSupervisor({ config, registry });
await bridge.start(AbortSignal.timeout(10_000));

for (const [customer, item] of ["ada apple", "ada pear", "bob plum", "ada fig"].map((order) => order.split(" "))) {
  const ids = { MessageGroupId: customer, MessageDeduplicationId: `${customer}-${item}` };
  await sqs.send(new SendMessageCommand({ QueueUrl: orders, MessageBody: item, ...ids }));
}

const arrived: Record<string, string[]> = { ada: [], bob: [] };
for (let missing = 4; missing > 0;) {
  const input = { QueueUrl: shop, WaitTimeSeconds: 5, MaxNumberOfMessages: 10, MessageAttributeNames: ["All"] };
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(input));
  for (const { Body = "", MessageAttributes = {} } of Messages) {
    arrived[MessageAttributes["ordering-key"]?.StringValue ?? ""]?.push(Body);
  }
  missing -= Messages.length;
}
for (const [customer, items] of Object.entries(arrived)) console.log(`${customer}: ${items.join(", ")}`);

await bridge.shutdown();
sqs.destroy();
await emulator.close();
