import type { OutboxBlock } from "../../src/bridge/start-bridge.ts";
import type { Kind } from "./pair.ts";

/** One end of a pair, as a program that carries messages is told of it; always on loopback. */
export interface EndJob {
  readonly kind: Kind;
  /** Where the broker or web service listens, or as the source of HTTP the program itself. */
  readonly port: number;
  /** A topic, a queue, a stream with its one subject, or the path of a web service. */
  readonly name: string;
}

/** What a program between two ends is told. */
export interface PairJob {
  readonly from: EndJob;
  readonly to: EndJob;
  /** The most messages held unacknowledged at once. */
  readonly window: number;
  /** Without it the bridge holds every message itself. */
  readonly outbox?: OutboxBlock | undefined;
}

export function pairJob(): PairJob {
  return JSON.parse(process.argv[2] ?? "") as PairJob;
}
