import { AmqpPeer } from "./amqp-peer.ts";
import { httpSource } from "./http-source.ts";
import type { Ledger } from "./ledger.ts";
import { MqttPeer, text } from "./mqtt-peer.ts";
import { NatsPeer } from "./nats-peer.ts";
import { sqsSource } from "./sqs-source.ts";

/** Where the load is put in. */
export type SourceJob =
  | { readonly kind: "mqtt"; readonly port: number; readonly topic: string }
  | { readonly kind: "amqp" | "sqs"; readonly port: number; readonly queue: string }
  | { readonly kind: "nats"; readonly port: number; readonly subject: string }
  | { readonly kind: "http"; readonly port: number; readonly path: string; readonly connections: number };

/** Puts messages in, one at a time. */
export interface Source {
  /** Whether a message could go out now. */
  readonly room: boolean;
  send(): void;
  /** Replaces connections that the other side may have closed while they rested. */
  renew?(): Promise<void>;
}

/** `onRoom` is called when there is room again. */
export async function openSource(job: SourceJob, ledger: Ledger, onRoom: () => void): Promise<Source> {
  switch (job.kind) {
    case "mqtt":
      return mqttSource(job, ledger);
    case "amqp":
      return amqpSource(job, ledger);
    case "nats":
      return natsSource(job, ledger);
    case "sqs":
      return sqsSource(job.port, job.queue, ledger, onRoom);
    case "http":
      return httpSource(job, ledger, onRoom);
  }
}

async function mqttSource({ port, topic }: Extract<SourceJob, { kind: "mqtt" }>, ledger: Ledger): Promise<Source> {
  const peer = await MqttPeer.connect(port, "bench-source", () => {});
  const encoded = text(topic);
  const fill = (packet: Buffer, at: number): void => ledger.send(packet, at);
  return { room: true, send: () => peer.publish(encoded, ledger.size, fill) };
}

async function amqpSource({ port, queue }: { port: number; queue: string }, ledger: Ledger): Promise<Source> {
  const peer = await AmqpPeer.connect(port, () => {});
  const fill = (packet: Buffer, at: number): void => ledger.send(packet, at);
  return { room: true, send: peer.publisher(queue, ledger.size, fill) };
}

async function natsSource({ port, subject }: { port: number; subject: string }, ledger: Ledger): Promise<Source> {
  const peer = await NatsPeer.connect(port, () => {});
  const fill = (packet: Buffer, at: number): void => ledger.send(packet, at);
  return { room: true, send: peer.publisher(subject, ledger.size, fill) };
}
