import type { BridgeError } from "@bridge/ports";
import type { Link } from "../session/link.ts";
import type { RouteParts } from "./route-parts.ts";

/** What blocks every message of a route, in words; `undefined` if nothing does. */
export function obstacleOf(
  parts: RouteParts,
  dlqFailure: BridgeError | undefined,
  outbox: string | undefined,
): string | undefined {
  const { control, sourceLink, targets, intake } = parts;
  if (control.pause.paused) return "an operator has paused it";
  const links = [sourceLink, ...[...targets.values()].map(({ link }) => link)];
  for (const link of links) if (link?.connected === false) return downOf(link);
  if (intake.lost) return `receiver ${intake.id} has lost its source`;
  return dlqFailure === undefined ? outbox : refusal("DLQ", dlqFailure);
}

/** Describes a store that refused a write: its own words name the limit it has reached. */
export function refusal(store: "outbox" | "DLQ", { code, message }: BridgeError): string {
  return `the ${store} store does not take what is written to it: ${code}, ${message}`;
}

/** What may become an obstacle, or blocks only some messages: a call without an answer, a missing subscription. */
export function hindranceOf(parts: RouteParts): string | undefined {
  const { sourceLink, storeCalls, config } = parts;
  if (sourceLink !== undefined && sourceLink.subscriptionsActive < sourceLink.subscriptionsWanted) {
    return `session ${sourceLink.sessionId} lacks subscriptions: ${sourceLink.subscriptionsActive} of ${sourceLink.subscriptionsWanted}`;
  }
  for (const role of ["outbox", "dlq"] as const) {
    const waitedMs = storeCalls[role].oldestMs;
    const name = role === "dlq" ? "DLQ" : role;
    if (waitedMs >= config.policy.sendTimeoutMs)
      return `the ${name} store has not answered for ${Math.round(waitedMs / 1_000)} s`;
  }
  return undefined;
}

function downOf({ sessionId, role, lease, lastError }: Link): string {
  if (lease !== undefined && !lease.held) {
    return lease.elsewhere
      ? `another instance holds the lease of session ${sessionId}`
      : `the lease of session ${sessionId} is not held`;
  }
  const why = lastError === undefined ? "" : `: ${lastError.code}, ${lastError.message}`;
  return `session ${sessionId} (${role}) is not connected${why}`;
}
