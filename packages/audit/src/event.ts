import type { AuditAction } from "./actions.ts";

/** How an action ended; `pending` before a redrive, `not_delivered` for an inject that a route settled otherwise. */
export type AuditOutcome = "success" | "failure" | "partial_failure" | "pending" | "not_delivered";

/** What an event says beyond its fixed fields. Never a payload, a key or a header value. */
export type AuditDetail = Readonly<Record<string, unknown>>;

/** What happened, as the servers report it. */
export interface AuditEntry {
  readonly action: AuditAction;
  /** The name of the key that was used; for `auth.*` the address of the TCP peer, as no identity exists yet. */
  readonly actor: string;
  readonly outcome: AuditOutcome;
  /** Where the request says it came from: for display only, as anybody can claim it. */
  readonly clientAddr: string;
  /** Default: that of the action. */
  readonly resourceType?: string | undefined;
  /** Default: empty. */
  readonly resourceId?: string | undefined;
  readonly detail?: AuditDetail | undefined;
  /** Entries that share a key are merged once there are many of them: see {@link Auditor.record}. */
  readonly mergeKey?: string | undefined;
  /** The call was refused before it changed anything, so the event may be counted instead of kept, as one of looking. */
  readonly refused?: boolean | undefined;
}

/** What a sink keeps: an event with the field names of its JSON form (spec 6). */
export interface AuditEvent {
  /** RFC 3339, in UTC, with milliseconds. */
  readonly timestamp: string;
  readonly action: AuditAction;
  readonly actor: string;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly outcome: AuditOutcome;
  readonly detail: AuditDetail & { readonly client_addr: string };
}
