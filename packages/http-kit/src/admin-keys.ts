import type { NamedKey } from "./keyring.ts";

/** The name of the one key of an installation that does not name its keys (spec 5.7). */
const SINGLE_KEY_NAME = "admin";

/** The keys that open everything; both forms may be given. An empty key counts as absent. */
export interface AdminKeys {
  /** A single key; audit records call it `admin`. */
  readonly adminApiKey?: string | undefined;
  /** Keys by the name that audit records call them. */
  readonly adminApiKeys?: Readonly<Record<string, string>> | undefined;
}

/** @throws Error when a named key takes the name of the single one */
export function namedAdminKeys({ adminApiKey = "", adminApiKeys = {} }: AdminKeys): readonly NamedKey[] {
  if (Object.hasOwn(adminApiKeys, SINGLE_KEY_NAME))
    throw new Error(`the API key name "${SINGLE_KEY_NAME}" is reserved for the single adminApiKey: choose another`);
  const named = Object.entries(adminApiKeys).map(([name, key]) => ({ name, key }));
  return adminApiKey === "" ? named : [{ name: SINGLE_KEY_NAME, key: adminApiKey }, ...named];
}
