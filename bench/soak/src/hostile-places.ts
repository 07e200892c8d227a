import { jetstreamManager } from "@nats-io/jetstream";
import { connect as connectToNats } from "@nats-io/transport-node";
import { connect as connectToAmqp } from "amqplib";
import { type BrokerPorts, HOSTILE_OUT, HOSTILE_STREAM } from "./bridge/hostile-parts.ts";

/** Nobody reads what ends there, so little of it is kept. */
const MOST_KEPT = 1_000;

/** Makes the streams and the exchange of the hostile routes, which no bridge makes by itself. */
export async function openHostilePlaces({ amqp, sourceNats, targetNats }: BrokerPorts): Promise<void> {
  const connection = await connectToAmqp({ hostname: "127.0.0.1", port: amqp });
  const channel = await connection.createChannel();
  await channel.assertExchange(HOSTILE_OUT.exchange, "fanout", { durable: true });
  await connection.close();
  await stream(sourceNats, { name: HOSTILE_STREAM, subjects: ["hostile.>"] });
  await stream(targetNats, { name: HOSTILE_OUT.stream, subjects: [HOSTILE_OUT.subject], max_msgs: MOST_KEPT });
}

async function stream(
  port: number,
  config: { readonly name: string; readonly subjects: string[]; readonly max_msgs?: number },
): Promise<void> {
  const client = await connectToNats({ servers: `127.0.0.1:${port}` });
  await (await jetstreamManager(client)).streams.add(config);
  await client.close();
}
