import type { DlqStore } from "@bridge/ports";
import type { Excuses } from "../case.ts";
import type { DlqStoreCaseName } from "./dlq-store-cases.ts";

/** A DLQ store that the suite is to try. */
export interface DlqStoreSubject {
  /** What the store need not do, and why. */
  readonly except?: Excuses<DlqStoreCaseName>;
  /** The largest payload that it has to take, in bytes. Default: 1 MiB. */
  readonly maxPayload?: number;
  /** An empty store that no other case uses. The case disposes it. */
  open(): Promise<DlqStore>;
  /**
   * Ends the store as abruptly as it can be done (without closing it) and opens what is left of it. Without this the
   * cases that survive a restart have to be excused.
   */
  reopen?(store: DlqStore): Promise<DlqStore>;
  /** Another handle on the same entries, for races. Default: the same handle. */
  second?(store: DlqStore): Promise<DlqStore>;
}
