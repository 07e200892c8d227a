import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/**
 * A check for the key in `X-API-Key` or `Authorization: Bearer`, as spec 5 has it for the admin server: the keys'
 * SHA-256 digests are compared, in constant time.
 */
export function apiKeyCheck(apiKey: string): (headers: IncomingHttpHeaders) => boolean {
  const expected = hash("sha256", apiKey, "buffer");
  return (headers) => {
    const given = headers["x-api-key"] ?? bearerToken(headers.authorization);
    if (typeof given !== "string") return false;
    return timingSafeEqual(hash("sha256", Buffer.from(given, "latin1"), "buffer"), expected);
  };
}

function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization?.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  return authorization.slice(7).trim();
}
