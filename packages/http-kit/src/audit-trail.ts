import type { Detail, Outcome } from "./endpoint.ts";

/** What every server records besides the actions of its endpoints. */
export type AuthAction = "auth.failure" | "auth.throttled";

export interface CallRecord<Action extends string> {
  readonly action: Action;
  /** The name of the caller, or of the key; for {@link AuthAction}s the address of the peer. */
  readonly actor: string;
  readonly outcome: Outcome;
  readonly clientAddr: string;
  readonly resourceType?: string;
  readonly resourceId?: string;
  readonly detail?: Detail;
  /** Records that share one may be merged when there are many. */
  readonly mergeKey?: string;
  /** The call was refused before it changed anything. */
  readonly refused?: boolean;
}

/** Where a server reports its calls. `@bridge/audit` has one. */
export interface AuditTrail<Action extends string> {
  /** An answer waits for it. Resolves to false when the record still waits to be kept. Never rejects. */
  record(entry: CallRecord<Action | AuthAction>): Promise<boolean>;
  /** Before a call: whether there is room for its records; waits for it within a bound. Never rejects. */
  hasRoomFor(action: Action): Promise<boolean>;
}
