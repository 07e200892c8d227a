import type { AuditTrail, AuthAction } from "./audit-trail.ts";
import { clientOf } from "./client-address.ts";
import { HttpError } from "./http-error.ts";
import { type Keyring, presentedKey } from "./keyring.ts";
import type { Throttle } from "./throttle.ts";

export interface AuthenticatorOptions {
  /** Names the realm, `bridge-<server>`, and is the resource type of what is recorded. */
  readonly server: "admin" | "monitor";
  readonly keyring: Keyring;
  readonly throttle: Throttle;
  readonly audit: AuditTrail<string>;
}

/** Who is calling. */
interface Caller {
  readonly peer: string;
  readonly clientAddr: string;
  readonly headers: Headers;
}

/**
 * Resolves to the name of the key that the caller showed. A valid key is never throttled (contract §3).
 * @throws HttpError 401, or 429 over the limit of failures; both are recorded
 */
export type Authenticate = (caller: Caller) => Promise<string>;

export function createAuthenticator({ server, keyring, throttle, audit }: AuthenticatorOptions): Authenticate {
  const refuse = (action: AuthAction, { peer, clientAddr }: Caller): Promise<boolean> =>
    audit.record({
      action,
      actor: peer,
      outcome: "failure",
      clientAddr,
      resourceType: server,
      mergeKey: clientOf(peer),
    });
  return async (caller) => {
    const presented = presentedKey(caller.headers);
    const name = presented === undefined ? undefined : keyring.identify(presented);
    const client = clientOf(caller.peer);
    if (name !== undefined) {
      throttle.reset(client);
      return name;
    }
    const waitMs = throttle.fail(client);
    if (waitMs > 0) {
      await refuse("auth.throttled", caller);
      throw new HttpError(429, "too many failed authentication attempts", {
        "Retry-After": String(Math.ceil(waitMs / 1_000)),
      });
    }
    await refuse("auth.failure", caller);
    throw new HttpError(401, "invalid or missing API key", {
      "WWW-Authenticate": `Bearer realm="bridge-${server}"`,
    });
  };
}
