import { createHash } from "node:crypto";

/** A browser takes one of such a name only over TLS, for this host alone and for all of its paths. */
const HOST_ONLY = "__Host-";

/** Where a request came in. */
export interface CookiePlace {
  /** Whether the browser speaks TLS, here or to what stands before us. */
  readonly isSecure: boolean;
  /** Cookies know no ports: bridges of one host are told apart by their ids. */
  readonly bridgeId: string;
}

function nameOf({ isSecure, bridgeId }: CookiePlace): string {
  const name = `bridge-${createHash("sha256").update(bridgeId).digest("hex").slice(0, 8)}`;
  return isSecure ? HOST_ONLY + name : name;
}

/** The value of the cookie, if the browser sent it. */
export function presentedCookie(headers: Headers, place: CookiePlace): string | undefined {
  const all = headers.get("cookie");
  if (all === null) return undefined;
  const start = `${nameOf(place)}=`;
  for (const part of all.split(";")) {
    const cookie = part.trim();
    if (cookie.startsWith(start)) return cookie.slice(start.length);
  }
  return undefined;
}

/** A `Set-Cookie` header. Without a value it takes the cookie away. */
export function setCookie(place: CookiePlace, value: string, maxAgeMs: number): string {
  const secure = place.isSecure ? " Secure;" : "";
  const seconds = Math.max(0, Math.floor(maxAgeMs / 1_000));
  return `${nameOf(place)}=${value}; HttpOnly;${secure} SameSite=Strict; Path=/; Max-Age=${seconds}`;
}
