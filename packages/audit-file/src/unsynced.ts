import type { AuditAction } from "@bridge/audit";

/** Actions after which nothing is different: their answers need not wait for the disk. */
export const UNSYNCED: ReadonlySet<AuditAction> = new Set<AuditAction>([
  "bridge.status",
  "route.list",
  "dlq.summary",
  "dlq.list",
  "outbox.summary",
  "outbox.list",
  "config.read",
  "config.history",
  "config.txn.read",
  "api.describe",
  "auth.failure",
  "auth.throttled",
]);
