import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { Caller } from "./own-authentication.ts";
import { type Permission, PERMISSIONS } from "@bridge/ports/internal";
import type { Role } from "@bridge/ports/internal";

const MIN_KEY_LENGTH = 16;
const NAME = /^[a-z0-9._-]{1,64}$/;
// What the ends of a header value cannot carry, or a header not at all.
const UNSENDABLE = /^\s|\s$|\p{Cc}/u;

/** A key, who it belongs to, and what it opens. */
export interface NamedKey {
  readonly name: string;
  readonly key: string;
  /** Default: all. */
  readonly permissions?: readonly Permission[];
  /** The role that the permissions are those of. */
  readonly role?: Role;
}

/** A key as sessions see it. */
export interface KeyHolder {
  readonly caller: Caller | string;
  /** HMAC-SHA256 of a text, as base64url, under what only somebody with the key can know. */
  readonly sign: (text: string) => string;
}

/** Keys by the digest of each; the keys themselves are not kept. */
export interface Keyring {
  /**
   * Who the key belongs to, or just their name if they may do everything; `undefined` when it is none of ours. Takes the same time
   * whichever key matches, or none.
   */
  identify(presented: string): Caller | string | undefined;
  /** The key of this name. A ring without it has no sessions for browsers. */
  readonly holder?: ((name: string) => KeyHolder | undefined) | undefined;
}

/** Whom a ring has named; just a name may do everything. */
export function callerOf(known: Caller | string): Caller {
  return typeof known === "string" ? { name: known, permissions: PERMISSIONS, role: "admin" } : known;
}

/** Sets what sessions are signed with apart from all else that may be made of a key. */
const SESSIONS = "bridge session 1";

/**
 * The ring that a server was given, or `make`s of what it was given in its place; `undefined` when it was given nothing.
 * @throws TypeError when it is neither
 */
export function keyringOf<Keys extends object>(
  keys: Keys | Keyring | undefined,
  make: (keys: Keys) => Keyring,
): Keyring | undefined {
  if (keys === undefined) return undefined;
  if (typeof keys !== "object" || (keys as unknown) === null)
    throw new TypeError(
      `keys is ${keys === null ? "null" : `of type ${typeof keys}`}: give an object, or leave it out`,
    );
  return "identify" in keys ? keys : make(keys);
}

/**
 * An empty ring lets nobody in.
 * @throws Error when a name or a key is malformed (spec 5.4), or one key has two names; never shows a key
 */
export function createKeyring(keys: readonly NamedKey[]): Keyring {
  const digests = keys.map(({ name, key, permissions, role }) => {
    if (!NAME.test(name))
      throw new Error(`the API key name ${JSON.stringify(name)} is invalid: use 1 to 64 of a-z, 0-9, ".", "_" and "-"`);
    // A program that the compiler has not seen may hand over anything, and what the platform would say of it shows the key.
    if (typeof key !== "string")
      throw new TypeError(`the API key "${name}" is of type ${typeof key}: give it a string`);
    if (key.length < MIN_KEY_LENGTH)
      throw new Error(`the API key "${name}" is too short: it needs at least ${MIN_KEY_LENGTH} characters`);
    if (UNSENDABLE.test(key))
      throw new Error(`the API key "${name}" cannot be sent in a header: remove control characters and outer blanks`);
    const caller: Caller | string = permissions === undefined ? name : { name, permissions, role };
    return { name, caller, digest: digestOf(Buffer.from(key, "utf8")) };
  });
  const names = new Map<string, string>();
  for (const { name, digest } of digests) {
    const other = names.get(digest.toString("hex"));
    if (other !== undefined)
      throw new Error(`the API keys "${other}" and "${name}" are the same: an audit record could not tell who it was`);
    names.set(digest.toString("hex"), name);
  }
  const holders = new Map(
    digests.map(({ name, caller, digest }): [string, KeyHolder] => {
      const secret = Buffer.from(hkdfSync("sha256", digest, "", SESSIONS, 32));
      return [name, { caller, sign: (text) => createHmac("sha256", secret).update(text).digest("base64url") }];
    }),
  );
  return {
    holder: (name) => holders.get(name),
    identify(presented) {
      // The platform reads header bytes as Latin-1: undoing that gives the bytes that were sent.
      const digest = digestOf(Buffer.from(presented, "latin1"));
      let match: Caller | string | undefined;
      for (const known of digests) if (timingSafeEqual(known.digest, digest)) match = known.caller;
      return match;
    },
  };
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

/** The key of a request: `X-API-Key`, else `Authorization: Bearer` (spec 5.3). */
export function presentedKey(headers: Headers): string | undefined {
  const own = headers.get("x-api-key");
  if (own !== null && own !== "") return own;
  const bearer = /^bearer +(.+)$/i.exec(headers.get("authorization") ?? "");
  return bearer?.[1];
}
