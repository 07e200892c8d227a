import { createHash, timingSafeEqual } from "node:crypto";

const MIN_KEY_LENGTH = 16;
const NAME = /^[a-z0-9._-]{1,64}$/;
// What the ends of a header value cannot carry, or a header not at all.
const UNSENDABLE = /^\s|\s$|\p{Cc}/u;

/** A key and who it belongs to. */
export interface NamedKey {
  readonly name: string;
  readonly key: string;
}

/** Keys by the digest of each; the keys themselves are not kept. */
export interface Keyring {
  /** The name of the key; `undefined` when it is none of ours. Takes the same time whichever key matches, or none. */
  identify(presented: string): string | undefined;
}

/** Tells a ring from what one is made of. */
export function isKeyring(keys: object): keys is Keyring {
  return "identify" in keys;
}

/**
 * An empty ring lets nobody in.
 * @throws Error when a name or a key is malformed (spec 5.4), or one key has two names; never shows a key
 */
export function createKeyring(keys: readonly NamedKey[]): Keyring {
  const digests = keys.map(({ name, key }) => {
    if (!NAME.test(name))
      throw new Error(`the API key name ${JSON.stringify(name)} is invalid: use 1 to 64 of a-z, 0-9, ".", "_" and "-"`);
    if (key.length < MIN_KEY_LENGTH)
      throw new Error(`the API key "${name}" is too short: it needs at least ${MIN_KEY_LENGTH} characters`);
    if (UNSENDABLE.test(key))
      throw new Error(`the API key "${name}" cannot be sent in a header: remove control characters and outer blanks`);
    return { name, digest: digestOf(Buffer.from(key, "utf8")) };
  });
  const names = new Map<string, string>();
  for (const { name, digest } of digests) {
    const other = names.get(digest.toString("hex"));
    if (other !== undefined)
      throw new Error(`the API keys "${other}" and "${name}" are the same: an audit record could not tell who it was`);
    names.set(digest.toString("hex"), name);
  }
  return {
    identify(presented) {
      // The platform reads header bytes as Latin-1: undoing that gives the bytes that were sent.
      const digest = digestOf(Buffer.from(presented, "latin1"));
      let match: string | undefined;
      for (const known of digests) if (timingSafeEqual(known.digest, digest)) match = known.name;
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
