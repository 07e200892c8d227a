/** What a program with an outbox between two ends in memory is told. */
export interface OutboxJob {
  /** The most messages held unacknowledged at once. */
  readonly window: number;
  readonly size: number;
  /** The file of the outbox. */
  readonly outbox: string;
}

/** A rate that does not care what comes out. */
export interface Offer {
  readonly perSecond: number;
  readonly seconds: number;
}
