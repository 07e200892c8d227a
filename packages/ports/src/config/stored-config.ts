/**
 * Where the stores of a document were when it ran, each as a digest, as far as that is known: a reference may name another place later, or
 * in another process.
 */
export type StorePlaces = Readonly<Partial<Record<"outbox" | "dlq", string>>>;

/** A document in a store at one moment. */
export interface StoredConfig {
  /** Its `config_version`; 0 when it has none. */
  readonly version: number;
  /** Names the exact content: any write changes it, by whatever hand, also one that leaves the version alone. */
  readonly revision: string;
  /** As written: references such as `${env:NAME}` are not resolved, nothing is validated. */
  readonly document: Readonly<Record<string, unknown>>;
  /** Of one that was remembered because it has run: as it was noted then. Absent: what its references name now counts. */
  readonly places?: StorePlaces | undefined;
}
