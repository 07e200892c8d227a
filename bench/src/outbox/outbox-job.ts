import type { OutboxBlock } from "../bridge/start-bridge.ts";

/** What a program with an outbox between two ends in memory is told. */
export interface OutboxJob {
  /** The most messages held unacknowledged at once. */
  readonly window: number;
  readonly size: number;
  readonly outbox: OutboxBlock;
}

/** A rate that does not care what comes out. */
export interface Offer {
  readonly perSecond: number;
  readonly seconds: number;
}
