import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { HttpReader } from "./http-reader.ts";
import { MqttPeer } from "./mqtt-peer.ts";
import { SqsPeer } from "./sqs-peer.ts";

/** Where messages are expected. */
export type SinkJob =
  | { readonly kind: "mqtt"; readonly port: number; readonly topic: string }
  | { readonly kind: "sqs"; readonly port: number; readonly queue: string }
  | { readonly kind: "http" };

/** Requests for messages at a time. */
const SQS_TAKERS = 8;
const NO_CONTENT = "HTTP/1.1 204 No Content\r\n\r\n";

/** Takes messages; returns the port that they are to be sent to. */
export async function openSink(job: SinkJob, onMessage: (payload: Buffer) => void): Promise<number> {
  if (job.kind === "mqtt") {
    const peer = await MqttPeer.connect(job.port, "bench-sink", onMessage);
    await peer.subscribe(job.topic);
    return job.port;
  }
  if (job.kind === "sqs") {
    const peer = new SqsPeer(job.port, job.queue);
    for (let taker = 0; taker < SQS_TAKERS; taker++) void peer.take(onMessage);
    return job.port;
  }
  const server = await openHttpSink(0, onMessage);
  return (server.address() as AddressInfo).port;
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
