/** What a message says of itself besides its payload. */
export interface Marks {
  /** The header that the address at the target needs; absent when the message is not to arrive. */
  readonly lane: string | undefined;
  readonly orderingKey: string | undefined;
}

/** Offers messages of one route until its source has them. */
export interface Source {
  /** Messages that are offered and not accepted yet. */
  readonly open: number;
  offer(id: string, marks: Marks): void;
}
