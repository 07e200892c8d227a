import type { NamedKey } from "./keyring.ts";
import { isPermission, type Permission, PERMISSIONS } from "@bridge/ports/internal";
import { isRole, type Role, ROLES } from "@bridge/ports/internal";

/** The name of the one key of an installation that does not name its keys (spec 5.7). */
const SINGLE_KEY_NAME = "admin";
const FIELDS: readonly string[] = ["key", "role", "permissions"];

/** A key that opens a part: what its role opens, or just these permissions. */
export type AdminKey =
  | { readonly key: string; readonly role: Role; readonly permissions?: undefined }
  | { readonly key: string; readonly permissions: readonly Permission[]; readonly role?: undefined };

/** The keys of the admin server; both forms may be given. An empty key counts as absent. */
export interface AdminKeys {
  /** A single key, which opens everything; audit records call it `admin`. */
  readonly adminApiKey?: string | undefined;
  /** Keys by the name that audit records call them. One that is a string opens everything. */
  readonly adminApiKeys?: Readonly<Record<string, string | AdminKey>> | undefined;
}

/**
 * Each key with what it opens.
 * @throws Error when a named key takes the name of the single one. TypeError when one has neither a role nor permissions, or both, or
 * such as there are not: what is not understood opens nothing. Never shows a key
 */
export function namedAdminKeys({ adminApiKey = "", adminApiKeys = {} }: AdminKeys): readonly NamedKey[] {
  if (Object.hasOwn(adminApiKeys, SINGLE_KEY_NAME))
    throw new Error(`the API key name "${SINGLE_KEY_NAME}" is reserved for the single adminApiKey: choose another`);
  const named = Object.entries(adminApiKeys).map(([name, given]) => namedKey(name, given));
  return adminApiKey === "" ? named : [{ name: SINGLE_KEY_NAME, key: adminApiKey }, ...named];
}

function namedKey(name: string, given: unknown): NamedKey {
  if (typeof given !== "object" || given === null) return { name, key: given as string };
  const refuse = (why: string): never => {
    throw new TypeError(`the API key ${JSON.stringify(name)} ${why}`);
  };
  const { key, role, permissions } = given as { readonly [Field in keyof AdminKey]?: unknown };
  // Not shown: who mixes them up has keys for names.
  if (Object.keys(given).some((field) => !FIELDS.includes(field)))
    return refuse(`has a field that is none: there are ${FIELDS.join(", ")}`);
  if ((role === undefined) === (permissions === undefined)) return refuse("needs either a role or permissions");
  if (permissions === undefined) {
    if (!isRole(role)) return refuse(`has a role that is none: there are ${Object.keys(ROLES).join(", ")}`);
    return { name, key: key as string, role, permissions: ROLES[role] };
  }
  if (!Array.isArray(permissions) || permissions.length === 0 || !permissions.every(isPermission))
    return refuse(`has permissions that are no list of permissions: there are ${PERMISSIONS.join(", ")}`);
  return { name, key: key as string, permissions };
}
