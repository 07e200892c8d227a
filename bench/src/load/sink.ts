import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { AmqpPeer } from "./amqp-peer.ts";
import { HttpReader } from "./http-reader.ts";
import { MqttPeer } from "./mqtt-peer.ts";
import { NatsPeer } from "./nats-peer.ts";
import { SqsPeer } from "./sqs-peer.ts";

/** Where messages are expected. */
export type SinkJob =
  | { readonly kind: "mqtt"; readonly port: number; readonly topic: string }
  | { readonly kind: "amqp" | "sqs"; readonly port: number; readonly queue: string }
  | { readonly kind: "nats"; readonly port: number; readonly stream: string }
  | { readonly kind: "http" };

/** Requests for messages at a time. */
const SQS_TAKERS = 8;
const NO_CONTENT = "HTTP/1.1 204 No Content\r\n\r\n";

/** Takes messages; returns the port that they are to be sent to. */
export async function openSink(job: SinkJob, onMessage: (payload: Buffer) => void): Promise<number> {
  if (job.kind === "http") {
    const server = await openHttpSink(0, onMessage);
    return (server.address() as AddressInfo).port;
  }
  switch (job.kind) {
    case "mqtt":
      await (await MqttPeer.connect(job.port, "bench-sink", onMessage)).subscribe(job.topic);
      break;
    case "amqp":
      await (await AmqpPeer.connect(job.port, onMessage)).consume(job.queue);
      break;
    case "nats":
      await (await NatsPeer.connect(job.port, onMessage)).consume(job.stream);
      break;
    case "sqs": {
      const peer = new SqsPeer(job.port, job.queue);
      for (let taker = 0; taker < SQS_TAKERS; taker++) void peer.take(onMessage);
    }
  }
  return job.port;
}

/** A web service that says yes to everything. */
export async function openHttpSink(port: number, onMessage: (payload: Buffer) => void): Promise<Server> {
  const server = createServer({ noDelay: true }, (socket) => {
    const reader = new HttpReader((_head, body) => {
      onMessage(body);
      socket.write(NO_CONTENT);
    });
    socket.on("data", (chunk: Buffer) => reader.read(chunk));
    socket.on("error", () => socket.destroy());
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}
