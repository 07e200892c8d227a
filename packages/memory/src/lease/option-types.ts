/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of the lease store `memory`. */
export interface MemoryLeaseStoreOptions {
  /** Must be true: you accept leases that no other process sees. */
  readonly acknowledge_volatile: true;
  /** Bridges in one process with the same name share their leases. Default: default. */
  readonly name?: string | undefined;
}
