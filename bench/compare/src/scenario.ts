import type { ErrorCode } from "@bridge/ports";

export type SourceKind = "mqtt" | "amqp";
export type TargetKind = "mqtt" | "amqp" | "http";

/** A message, numbered from 0. */
export interface PlannedMessage {
  readonly number: number;
  /** Milliseconds after the bridge is ready. */
  readonly at: number;
  /** Those of one key keep their order. */
  readonly key?: number;
  /** What each target always refuses it with; `undefined`: it takes it. One for each binding. */
  readonly refused: readonly (ErrorCode | undefined)[];
}

/**
 * What goes wrong. `kill`: SIGKILL, and the next process `forMs` later. `stop`: SIGTERM, likewise. `freeze`: SIGSTOP. `…_cut`:
 * connections are broken, new ones come at once. `…_down`: nobody is reached. `broker_restart`: Mosquitto ends and starts
 * again, at both ends of the route where it is at both. `store_restart`: PostgreSQL does.
 */
export type TroubleKind =
  | "kill"
  | "stop"
  | "freeze"
  | "source_cut"
  | "source_down"
  | "target_cut"
  | "target_down"
  | "broker_restart"
  | "store_restart";

export interface Trouble {
  readonly kind: TroubleKind;
  readonly at: number;
  readonly forMs: number;
}

/** What happens, whoever runs it. */
export interface Scenario {
  readonly name: string;
  readonly source: SourceKind;
  /** Of a queue: whether what fails for a time goes back to it, or is held. */
  readonly retry: "requeue" | "hold";
  /** One: `single`; more: `fan_out`. */
  readonly targets: readonly TargetKind[];
  readonly mode: "direct_hold" | "shared_outbox";
  readonly store: "file" | "postgres";
  readonly drops: boolean;
  readonly attempts: number;
  readonly window: number;
  readonly messages: readonly PlannedMessage[];
  readonly troubles: readonly Trouble[];
}

export function bindingOf(index: number): string {
  return `b${index}`;
}

/** In one line. */
export function inWords({ source, retry, targets, mode, store, drops, messages, troubles }: Scenario): string {
  const refused = messages.filter((message) => message.refused.some((code) => code !== undefined)).length;
  const from = source === "amqp" ? `amqp (${retry})` : source;
  const what = troubles.map(({ kind, at }) => `${kind} at ${at}`).join(", ");
  return (
    `${from} to ${targets.join(" and ")}, ${mode}, ${store}, ${drops ? "drop" : "dlq"}, ${messages.length} messages, ` +
    `${refused} of them refused; ${what}`
  );
}
