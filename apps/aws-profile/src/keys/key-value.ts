import { repeatedKey } from "@bridge/ports/internal";
import { type AdminKey, createKeyring, namedAdminKeys } from "@bridge/http-kit";

/** What a parameter or a secret holds: one key, or several by their names. */
export type KeyValue =
  | { readonly single: string; readonly named?: undefined }
  | { readonly single?: undefined; readonly named: Readonly<Record<string, string | AdminKey>> };

const KEY_TO_TRY_NAMES_WITH = "a key of enough characters";

/**
 * Reads the text of a parameter or secret. One that begins with `{` is a JSON object of keys by name (contract §3), each a string, or
 * `{"key": …, "role": …}` with `permissions` in place of `role`; any other is a key, and a line break at its end is not part of it.
 * @throws Error saying which entry is wrong and how. It shows neither keys nor names: who mixes them up has keys for names.
 */
export function keyValueOf(text: string): KeyValue {
  const value = text.replace(/\r?\n$/, "");
  if (!value.startsWith("{")) {
    createKeyring([{ name: "admin", key: value }]);
    return { single: value };
  }
  const entries = Object.entries(mapOf(value));
  if (entries.length === 0) throw new Error("the map of named keys is empty: give at least one name and key");
  const checked = entries.map(([name, key], index) => {
    const entry = `entry-${index + 1}`;
    if (typeof key !== "string" && !isBlock(key))
      throw new Error(`${entry} of the map of named keys is neither a name and a string nor a name and {key, role}`);
    if (name === "admin")
      throw new Error(`${entry} of the map of named keys is called "admin": this is the name of a single key`);
    requireName(name, entry);
    return [entry, key] as const;
  });
  createKeyring(namedAdminKeys({ adminApiKeys: Object.fromEntries(checked) }));
  return { named: Object.fromEntries(entries) };
}

function isBlock(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function mapOf(text: string): object {
  let map: object;
  try {
    map = JSON.parse(text) as object;
  } catch {
    // The parser's own words quote the text.
    throw new Error("it begins with { and is no JSON object of names and keys");
  }
  if (repeatedKey(text) !== undefined) throw new Error("a name is twice in the map of named keys: remove one of them");
  return map;
}

function requireName(name: string, entry: string): void {
  try {
    createKeyring([{ name, key: KEY_TO_TRY_NAMES_WITH }]);
  } catch {
    throw new Error(`${entry} of the map of named keys has a name that is not 1 to 64 of a-z, 0-9, ".", "_" and "-"`);
  }
}
