import { type Permission, PERMISSIONS } from "./permissions.ts";

/** What each role opens. Each may do all that the one before it may. */
export const ROLES = {
  /** Looks: state, lists, metrics, configuration without secrets. Sees no payload and changes nothing. */
  viewer: ["read"],
  /** Works with messages: sees and redrives dead letters, deletes them by id or filter, injects, pauses routes. */
  operator: ["read", "payload.read", "dlq.redrive", "dlq.delete", "message.inject", "route.pause", "outbox.move"],
  /** Everything: also starts and stops the bridge, empties the DLQ, and changes the configuration. */
  admin: PERMISSIONS,
} as const satisfies Readonly<Record<string, readonly Permission[]>>;

export type Role = keyof typeof ROLES;

export function isRole(value: unknown): value is Role {
  return typeof value === "string" && Object.hasOwn(ROLES, value);
}
