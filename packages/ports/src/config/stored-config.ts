/** A document in a store at one moment. */
export interface StoredConfig {
  /** Its `config_version`; 0 when it has none. */
  readonly version: number;
  /** Names the exact content: any write changes it, by whatever hand, also one that leaves the version alone. */
  readonly revision: string;
  /** As written: references such as `${env:NAME}` are not resolved, nothing is validated. */
  readonly document: Readonly<Record<string, unknown>>;
}
