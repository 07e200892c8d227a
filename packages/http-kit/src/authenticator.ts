import type { Context } from "hono";
import type { AuditTrail, AuthAction } from "./audit-trail.ts";
import { clientOf } from "./client-address.ts";
import { HttpError } from "./http-error.ts";
import { type Keyring, presentedKey } from "./keyring.ts";
import type { Caller } from "./own-authentication.ts";
import { PERMISSIONS } from "@bridge/ports/internal";
import type { Throttle } from "./throttle.ts";

/** What a caller is known by. */
interface Presented {
  readonly peer: string;
  readonly clientAddr: string;
  readonly headers: Headers;
  readonly context: Context;
}

/** Who was let in. */
export interface Identity {
  readonly caller: Caller;
  /** Who that is by now; `undefined`: nobody any more. Absent when that cannot be asked again without the request. */
  readonly again?: () => Caller | undefined;
}

/** Tells who calls; `undefined`: nobody who may. @throws HttpError when that cannot be told */
export type Identify = (presented: Presented) => Identity | undefined | Promise<Identity | undefined>;

export interface AuthenticatorOptions {
  /** Names the realm, `bridge-<server>`, and is the resource type of what is recorded. */
  readonly server: "admin" | "monitor";
  readonly identify: Identify;
  /** What a caller is told who is none. */
  readonly refusal: string;
  readonly throttle: Throttle;
  readonly audit: AuditTrail<string>;
}

/** By the key that the caller shows. */
export function byKey(keyring: Keyring): Identify {
  return ({ headers }) => {
    const presented = presentedKey(headers);
    if (presented === undefined) return undefined;
    const again = (): Caller | undefined => {
      const known = keyring.identify(presented);
      return typeof known === "string" ? { name: known, permissions: PERMISSIONS, role: "admin" } : known;
    };
    const caller = again();
    return caller && { caller, again };
  };
}

/**
 * Resolves to who calls. A valid key is never throttled (contract §3).
 * @throws HttpError 401, or 429 over the limit of failures; both are recorded
 */
export type Authenticator = (presented: Presented) => Promise<Identity>;

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { server, identify, refusal, throttle, audit } = options;
  const refuse = (action: AuthAction, { peer, clientAddr }: Presented): Promise<boolean> =>
    audit.record({
      action,
      actor: peer,
      outcome: "failure",
      clientAddr,
      resourceType: server,
      mergeKey: clientOf(peer),
    });
  return async (presented) => {
    const identity = await identify(presented);
    const client = clientOf(presented.peer);
    if (identity !== undefined) {
      throttle.reset(client);
      return identity;
    }
    const waitMs = throttle.fail(client);
    if (waitMs > 0) {
      await refuse("auth.throttled", presented);
      throw new HttpError(429, "too many failed authentication attempts", {
        "Retry-After": String(Math.ceil(waitMs / 1_000)),
      });
    }
    await refuse("auth.failure", presented);
    throw new HttpError(401, refusal, {
      "WWW-Authenticate": `Bearer realm="bridge-${server}"`,
    });
  };
}
