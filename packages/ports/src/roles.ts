import { type Permission, PERMISSIONS } from "./permissions.ts";

/** What each role opens. Each may do all that the one before it may. */
export const ROLES = {
  /** Looks: state, lists, metrics, configuration without secrets. Sees no payload and changes nothing. */
  viewer: ["read"],
  /** Works with messages: sees, marks and redrives dead letters, deletes them by id or filter, injects, pauses routes. */
  operator: [
    "read",
    "payload.read",
    "dlq.redrive",
    "dlq.delete",
    "dlq.annotate",
    "message.inject",
    "route.pause",
    "outbox.move",
  ],
  /** Everything: also sees payloads whole, changes dead letters, empties the DLQ, starts and stops the bridge, and changes the configuration. */
  admin: PERMISSIONS,
} as const satisfies Readonly<Record<string, readonly Permission[]>>;

export type Role = keyof typeof ROLES;

export function isRole(value: unknown): value is Role {
  return typeof value === "string" && Object.hasOwn(ROLES, value);
}
