/** Offers messages of one route until its source has them. */
export interface Source {
  /** Messages that are offered and not accepted yet. */
  readonly open: number;
  /** `lane` is the header that the address at the target needs. */
  offer(id: string, lane: string | undefined): void;
}
