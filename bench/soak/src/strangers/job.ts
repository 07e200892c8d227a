import type { BrokerPorts } from "../bridge/hostile-parts.ts";
import type { SideName } from "../sides.ts";

export const HOSTILE_WAYS = ["mqtt", "nats", "amqp", "http", "memory"] as const;
export type HostileWay = (typeof HOSTILE_WAYS)[number];

export interface StrangersJob {
  readonly sides: readonly {
    readonly side: SideName;
    readonly monitor: number;
    readonly admin: number;
    readonly ingest: number;
  }[];
  readonly brokers: BrokerPorts;
  /** Where the web service that takes anything is to listen. */
  readonly sink: number;
}

export interface StrangersReport {
  /** Hostile messages that were written, by the way that they came in, over both bridges. */
  readonly written: Readonly<Record<HostileWay, number>>;
  /** Of them, those that were refused, or not taken in time. */
  readonly refused: Readonly<Record<HostileWay, number>>;
  /** Requests that the sink has taken. */
  readonly atSink: number;
  /** Clients that never read: how often one was cut, and connected again. */
  readonly cut: number;
  readonly connected: number;
  /** What they got rid of, in MiB. */
  readonly pipelinedMib: number;
}
