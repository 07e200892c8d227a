import type { LeaseStore } from "@bridge/ports";
import type { Excuses } from "../case.ts";
import type { LeaseStoreCaseName } from "./lease-store-cases.ts";

/** A lease store that the suite is to try. */
export interface LeaseStoreSubject {
  /** What the store need not do, and why. */
  readonly except?: Excuses<LeaseStoreCaseName>;
  /** A store without a lease in it, that no other case uses. The case disposes it. */
  open(): Promise<LeaseStore>;
  /**
   * Ends the store as abruptly as it can be done (without closing it) and opens what is left of it. Without this the
   * cases that survive a restart have to be excused.
   */
  reopen?(store: LeaseStore): Promise<LeaseStore>;
  /** Another handle on the same leases, as another instance has it. Default: the same handle. */
  second?(store: LeaseStore): Promise<LeaseStore>;
}
