/** Every action that is recorded, with the type of the resource that it is about (contract: audit vocabulary, spec 6). */
export const AUDIT_ACTIONS = {
  "bridge.status": "bridge",
  /** Each `….begin` is written before the work, outcome pending, with what was asked for. */
  "bridge.start.begin": "bridge",
  "bridge.start": "bridge",
  "bridge.stop.begin": "bridge",
  "bridge.stop": "bridge",
  "route.list": "route",
  "route.inject.begin": "route",
  "route.inject": "route",
  "route.pause.begin": "route",
  "route.pause": "route",
  "route.resume.begin": "route",
  "route.resume": "route",
  /** Looking at what a route settles, from when it began to its end, with how much was shown. */
  "route.tail.begin": "route",
  "route.tail": "route",
  "message.trace": "message",
  "events.open": "events",
  "series.read": "series",
  "topology.read": "topology",
  "conditions.read": "conditions",
  "audit.read": "audit",
  "audit.verify": "audit",
  "dlq.summary": "dlq",
  /** Counting by groups. */
  "dlq.facets": "dlq",
  "dlq.list": "dlq",
  "dlq.read_payload": "dlq",
  "dlq.redrive.begin": "dlq",
  "dlq.redrive": "dlq",
  "dlq.delete.begin": "dlq",
  "dlq.delete": "dlq",
  "dlq.delete_by_filter.begin": "dlq",
  "dlq.delete_by_filter": "dlq",
  "dlq.purge.begin": "dlq",
  "dlq.purge": "dlq",
  /** The redrive of a single entry, edited or not. */
  "dlq.edit.begin": "dlq",
  "dlq.edit": "dlq",
  /** Entries that leave as lines, from when that began to its end, and those that come in. */
  "dlq.export.begin": "dlq",
  "dlq.export": "dlq",
  "dlq.import.begin": "dlq",
  "dlq.import": "dlq",
  /** Notes, who works on an entry, keeping it back. */
  "dlq.annotate.begin": "dlq",
  "dlq.annotate": "dlq",
  /** A plan changes nothing but its own document. */
  "dlq.job.plan": "dlq",
  "dlq.job.list": "dlq",
  "dlq.job.read": "dlq",
  "dlq.job.start.begin": "dlq",
  "dlq.job.start": "dlq",
  "dlq.job.pause.begin": "dlq",
  "dlq.job.pause": "dlq",
  "dlq.job.resume.begin": "dlq",
  "dlq.job.resume": "dlq",
  "dlq.job.cancel.begin": "dlq",
  "dlq.job.cancel": "dlq",
  "dlq.job.change.begin": "dlq",
  "dlq.job.change": "dlq",
  "dlq.job.undo.begin": "dlq",
  "dlq.job.undo": "dlq",
  /** By the engine itself, for whoever has planned the job. */
  "dlq.job.halted": "dlq",
  "dlq.job.adopted": "dlq",
  "dlq.job.end": "dlq",
  /** An operator knows of the damaged files that were set aside. */
  "dlq.acknowledge_damage": "dlq",
  "dlq.acknowledge_damage.begin": "dlq",
  "outbox.summary": "outbox",
  "outbox.list": "outbox",
  /** Which ordering keys are blocked. */
  "outbox.keys": "outbox",
  /** Moving records from the outbox to the DLQ. */
  "outbox.dead_letter.begin": "outbox",
  "outbox.dead_letter": "outbox",
  "outbox.acknowledge_damage": "outbox",
  "outbox.acknowledge_damage.begin": "outbox",
  "config.read": "config",
  "config.history": "config",
  "config.document.read": "config",
  "config.txn.create": "config",
  "config.txn.read": "config",
  "config.txn.patch": "config",
  "config.txn.document": "config",
  "config.txn.validate": "config",
  "config.txn.diff": "config",
  "config.txn.commit.begin": "config",
  "config.txn.commit": "config",
  "config.txn.rollback": "config",
  "config.confirm.begin": "config",
  "config.confirm": "config",
  "config.revert.begin": "config",
  "config.revert": "config",
  /** A change that was on probation was taken back, by whatever cause; the actor is who had committed it. */
  "config.reverted": "config",
  "api.describe": "api",
  "session.read": "session",
  /** A browser got, or gave back, a cookie in place of a key. */
  "session.create.begin": "session",
  "session.create": "session",
  "session.end.begin": "session",
  "session.end": "session",
  /** A missing or wrong key. */
  "auth.failure": "admin",
  /** A client over its limit of failures was turned away. */
  "auth.throttled": "admin",
  /** A sink that keeps records in a chain went on after something went wrong; written by the sink itself. */
  "audit.resumed": "audit",
  /** Events of calls that changed nothing, which stand in no record of their own, because the sink could not keep up. */
  "audit.merged": "audit",
} as const satisfies Record<string, string>;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/**
 * Actions after which nothing is different: their answers need not wait for a disk, and when a sink cannot keep up they are
 * counted instead of kept. `dlq.read_payload` is none of them: who has seen content is to be known.
 */
export const LOOKS: ReadonlySet<AuditAction> = new Set<AuditAction>([
  "bridge.status",
  "route.list",
  "dlq.summary",
  "dlq.facets",
  "dlq.list",
  "dlq.job.list",
  "dlq.job.read",
  "outbox.summary",
  "outbox.list",
  "config.read",
  "config.history",
  "config.document.read",
  "config.txn.read",
  "config.txn.diff",
  "api.describe",
  "session.read",
  "message.trace",
  "events.open",
  "series.read",
  "topology.read",
  "conditions.read",
  "audit.read",
  "audit.verify",
  "auth.failure",
  "auth.throttled",
]);
