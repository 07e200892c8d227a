/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of the lease store `memory`. */
export interface MemoryLeaseStoreOptions {
  /** Must be true: says that leases which no other process sees are accepted. */
  readonly acknowledge_volatile: true;
  /** Bridges of one process that give the same name share their leases. Default: default. */
  readonly name?: string | undefined;
}
