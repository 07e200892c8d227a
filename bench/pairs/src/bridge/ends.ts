import type { BridgeDocument } from "@bridge/config";
import type { EndJob } from "../job.ts";

/** The session of an end in the configuration; HTTP has none. */
export function sessionOf(id: string, { kind, port }: EndJob): NonNullable<BridgeDocument["sessions"]> {
  const session = { id, transport: kind, session_mode: "persistent" } as const;
  switch (kind) {
    case "mqtt":
      return [{ ...session, options: { broker_urls: [`mqtt://127.0.0.1:${port}`] } }];
    case "amqp":
      return [{ ...session, options: { url: `amqp://127.0.0.1:${port}` } }];
    case "nats":
      return [{ ...session, options: { servers: [`nats://127.0.0.1:${port}`] } }];
    case "http":
      return [];
  }
}

export function receiverOf(session_id: string, { kind, port, name }: EndJob): object {
  switch (kind) {
    case "mqtt":
      return { session_id, topics: [{ topic: name, qos: 1 }] };
    case "amqp":
      return { session_id, options: { queue: name, queue_type: "classic" } };
    case "nats":
      return { session_id, options: { stream: name, consumer: "bridge", create: true } };
    case "http":
      return { transport: "http", options: { addr: `127.0.0.1:${port}`, path: name } };
  }
}

/** What it is sent to, a topic, a queue, a subject or a path, is the binding's address. */
export function senderOf(session_id: string, { kind, port }: EndJob, window: number): object {
  if (kind !== "http") return { session_id };
  return { transport: "http", options: { url: `http://127.0.0.1:${port}`, max_connections: window } };
}
