/** A call of an endpoint that does something, of a bridge with an outbox and the dead letter `e1`. */
export interface SampleCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/api/v1/admin`. */
  readonly path: string;
  readonly body?: object;
  readonly action: string;
  /** Default: 200, with outcome `success`. */
  readonly status?: number;
  readonly outcome?: string;
  /** A GET that goes on: its beginning is recorded too. */
  readonly goesOn?: true;
}

/** One call of every endpoint but those of the configuration. */
export const CALLS: readonly SampleCall[] = [
  { method: "GET", path: "/session", action: "session.read" },
  { method: "POST", path: "/session", action: "session.create", status: 201 },
  { method: "DELETE", path: "/session", action: "session.end" },
  { method: "GET", path: "/bridge", action: "bridge.status" },
  { method: "POST", path: "/bridge/start", action: "bridge.start" },
  { method: "POST", path: "/bridge/stop", action: "bridge.stop" },
  { method: "GET", path: "/routes", action: "route.list" },
  { method: "POST", path: "/routes/alarms/inject", body: { subject: "s" }, action: "route.inject" },
  { method: "POST", path: "/routes/alarms/pause", action: "route.pause" },
  { method: "POST", path: "/routes/alarms/resume", action: "route.resume" },
  { method: "GET", path: "/topology", action: "topology.read" },
  { method: "GET", path: "/events", action: "events.open" },
  { method: "GET", path: "/routes/alarms/tail", action: "route.tail", goesOn: true },
  { method: "GET", path: "/messages/e1", action: "message.trace" },
  { method: "GET", path: "/messages", action: "message.trace", status: 400, outcome: "failure" },
  { method: "GET", path: "/dlq", action: "dlq.summary" },
  { method: "GET", path: "/dlq/summary", action: "dlq.facets" },
  { method: "POST", path: "/dlq/annotate", body: { ids: ["e1"], note: "n" }, action: "dlq.annotate" },
  { method: "GET", path: "/dlq/messages", action: "dlq.list" },
  { method: "GET", path: "/dlq/messages/e1", action: "dlq.read_payload" },
  { method: "GET", path: "/dlq/export", action: "dlq.export", goesOn: true },
  { method: "POST", path: "/dlq/import", body: {}, action: "dlq.import", status: 207, outcome: "failure" },
  { method: "POST", path: "/dlq/redrive", body: { ids: ["e1"] }, action: "dlq.redrive" },
  { method: "POST", path: "/dlq/messages/e1/redrive", body: { reason: "r" }, action: "dlq.edit" },
  { method: "POST", path: "/dlq/delete", body: { ids: ["e1"] }, action: "dlq.delete" },
  { method: "POST", path: "/dlq/delete-by-filter", body: { route_id: "alarms" }, action: "dlq.delete_by_filter" },
  { method: "POST", path: "/dlq/purge", body: { confirm_purge_all: true }, action: "dlq.purge" },
  { method: "POST", path: "/dlq/acknowledge-damage", action: "dlq.acknowledge_damage" },
  { method: "POST", path: "/outbox/acknowledge-damage", action: "outbox.acknowledge_damage" },
  { method: "GET", path: "/outbox", action: "outbox.summary" },
  { method: "GET", path: "/outbox/messages", action: "outbox.list" },
  { method: "GET", path: "/outbox/keys", action: "outbox.keys" },
  {
    method: "POST",
    path: "/outbox/dead-letter",
    body: { ids: ["not-there"] },
    action: "outbox.dead_letter",
    status: 207,
    outcome: "failure",
  },
];

/** One call of each endpoint that needs no bridge. */
export const BRIDGELESS_CALLS: readonly SampleCall[] = [
  { method: "GET", path: "/series", action: "series.read" },
  { method: "GET", path: "/conditions", action: "conditions.read" },
  { method: "GET", path: "/audit", action: "audit.read", status: 404, outcome: "failure" },
  { method: "POST", path: "/audit/verify", action: "audit.verify", status: 404, outcome: "failure" },
];

const TRANSACTION = "/config/transactions/{txnID}";

/** One call of every endpoint of the configuration, of an open transaction with a patch. */
export const CONFIG_CALLS: readonly SampleCall[] = [
  { method: "GET", path: "/config", action: "config.read" },
  { method: "GET", path: "/config/document", action: "config.document.read" },
  { method: "GET", path: "/config/history", action: "config.history" },
  {
    method: "POST",
    path: "/config/confirm",
    body: { version: 1 },
    action: "config.confirm",
    status: 409,
    outcome: "failure",
  },
  {
    method: "POST",
    path: "/config/revert",
    body: { version: 1, reason: "r" },
    action: "config.revert",
    status: 409,
    outcome: "failure",
  },
  { method: "POST", path: "/config/transactions", action: "config.txn.create", status: 201 },
  { method: "GET", path: TRANSACTION, action: "config.txn.read" },
  { method: "PATCH", path: TRANSACTION, body: { bridge: { log_level: "debug" } }, action: "config.txn.patch" },
  { method: "PUT", path: `${TRANSACTION}/document`, body: { text: "{}" }, action: "config.txn.document" },
  { method: "GET", path: `${TRANSACTION}/diff`, action: "config.txn.diff" },
  { method: "POST", path: `${TRANSACTION}/validate`, action: "config.txn.validate" },
  { method: "POST", path: `${TRANSACTION}/commit`, action: "config.txn.commit" },
  { method: "DELETE", path: TRANSACTION, action: "config.txn.rollback" },
];

const JOB = "/dlq/jobs/{id}";

/** One call of every endpoint of jobs, of a redrive that is planned. */
export const JOB_CALLS: readonly SampleCall[] = [
  {
    method: "POST",
    path: "/dlq/jobs",
    body: { kind: "redrive", filter: {}, reason: "it is back" },
    action: "dlq.job.plan",
    status: 201,
  },
  { method: "GET", path: "/dlq/jobs", action: "dlq.job.list" },
  { method: "GET", path: JOB, action: "dlq.job.read" },
  { method: "PATCH", path: JOB, body: { rate: 5 }, action: "dlq.job.change" },
  { method: "POST", path: `${JOB}/start`, body: { plan_hash: "{hash}" }, action: "dlq.job.start", status: 202 },
  { method: "POST", path: `${JOB}/pause`, action: "dlq.job.pause", status: 409, outcome: "failure" },
  { method: "POST", path: `${JOB}/resume`, action: "dlq.job.resume", status: 409, outcome: "failure" },
  { method: "POST", path: `${JOB}/cancel`, action: "dlq.job.cancel", status: 202 },
  { method: "POST", path: `${JOB}/undo`, action: "dlq.job.undo", status: 409, outcome: "failure" },
];
