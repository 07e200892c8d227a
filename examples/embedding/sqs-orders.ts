/**
 * Orders out of a FIFO queue of SQS, in order for each customer, into a queue that a shop reads. An emulator stands in for
 * AWS, so that it runs anywhere. `pnpm run sqs-orders` @module
 */
import { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { sqs } from "@bridge/transport-sqs";
import { buildApp } from "fauxqs";

const emulator = buildApp({ logger: false });
const endpoint = await emulator.listen({ port: 0, host: "127.0.0.1" });

// On AWS all three are in the environment, and sqs() needs no settings.
const client = { endpoint, region: "eu-central-1", credentials: { accessKeyId: "any", secretAccessKey: "any" } };
const service = new SQSClient(client);
const queue = async (QueueName: string, Attributes = {}): Promise<string> =>
  (await service.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? "";
const orders = await queue("orders.fifo", { FifoQueue: "true" });
const shop = await queue("shop");

const queues = sqs({ client });
const bridge = await defineBridge({
  id: "orders",
  stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
  routes: { orders: { from: queues.queue(orders, { wait_time: "1s" }), to: queues.at(shop) } },
}).start({ signal: AbortSignal.timeout(10_000) });

for (const [customer, item] of ["ada apple", "ada pear", "bob plum", "ada fig"].map((order) => order.split(" "))) {
  const ids = { MessageGroupId: customer, MessageDeduplicationId: `${customer}-${item}` };
  await service.send(new SendMessageCommand({ QueueUrl: orders, MessageBody: item, ...ids }));
}

const arrived: Record<string, string[]> = { ada: [], bob: [] };
for (let missing = 4; missing > 0;) {
  const input = { QueueUrl: shop, WaitTimeSeconds: 5, MaxNumberOfMessages: 10, MessageAttributeNames: ["All"] };
  const { Messages = [] } = await service.send(new ReceiveMessageCommand(input));
  for (const { Body = "", MessageAttributes = {} } of Messages) {
    arrived[MessageAttributes["ordering-key"]?.StringValue ?? ""]?.push(Body);
  }
  missing -= Messages.length;
}
for (const [customer, items] of Object.entries(arrived)) console.log(`${customer}: ${items.join(", ")}`);

await bridge.shutdown();
service.destroy();
await emulator.close();
