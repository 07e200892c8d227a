/** What a caller may be let do. */
export const PERMISSIONS = [
  /** Every GET but those of payloads and transactions: state, lists, metrics, configuration and history, the OpenAPI document. */
  "read",
  /** Dead letters with headers and payload, without what `http.redact` names. */
  "payload.read",
  /** The same, whole. It adds to `payload.read` and opens nothing alone. */
  "payload.raw",
  "dlq.redrive",
  /** Dead letters by their ids, or by a filter that names something. */
  "dlq.delete",
  /** All dead letters at once. */
  "dlq.purge",
  /** Notes on dead letters, who works on them, keeping them back from redrives. */
  "dlq.annotate",
  /** Sending dead letters changed or to another binding, and bringing some in. */
  "dlq.edit",
  "message.inject",
  /** Pausing and resuming routes. */
  "route.pause",
  /** Records from the outbox into the DLQ. */
  "outbox.move",
  /** Starting and stopping the bridge. */
  "bridge.control",
  /** Acknowledging damaged files. */
  "damage.acknowledge",
  /** Changing the configuration, by transactions. */
  "config.write",
] as const;

export type Permission = (typeof PERMISSIONS)[number];

export function isPermission(value: unknown): value is Permission {
  return (PERMISSIONS as readonly unknown[]).includes(value);
}
