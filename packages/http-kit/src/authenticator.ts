import type { Context } from "hono";
import type { AuthRefusals } from "./auth-refusals.ts";
import type { AuditTrail, AuthAction } from "./audit-trail.ts";
import { clientOf } from "./client-address.ts";
import { HttpError } from "./http-error.ts";
import { callerOf, type Keyring, presentedKey } from "./keyring.ts";
import type { StreamEnd } from "./open-stream.ts";
import type { Caller } from "./own-authentication.ts";
import type { OpenSession, Sessions } from "./session/sessions.ts";
import type { Throttle } from "./throttle.ts";

/** What a caller is known by. */
interface Presented {
  readonly peer: string;
  readonly clientAddr: string;
  readonly headers: Headers;
  readonly context: Context;
  /** Only a key opens what is asked for, and no session. */
  readonly byKeyOnly: boolean;
}

/** Who was let in. */
export interface Identity {
  readonly caller: Caller;
  /** Who that is by now, or why it is nobody any more. Absent when that cannot be asked again without the request. */
  readonly again?: () => Caller | StreamEnd;
  /** What has let them in, when it was no key. */
  readonly session?: OpenSession;
}

/** `undefined`: nobody who may call. `"over"`: somebody who might, and no longer may without showing a key again. */
type Identified = Identity | "over" | undefined;

/** Tells who calls. @throws HttpError when that cannot be told */
export type Identify = (presented: Presented) => Identified | Promise<Identified>;

export interface AuthenticatorOptions {
  /** Names the realm, `bridge-<server>`, and is the resource type of what is recorded. */
  readonly server: "admin" | "monitor";
  readonly identify: Identify;
  /** What a caller is told who is none. */
  readonly refusal: string;
  readonly throttle: Throttle;
  readonly refusals: AuthRefusals;
  readonly audit: AuditTrail<string>;
}

/** By the key that the caller shows, or, without one, by their session. */
export function byKey(keyring: Keyring, sessions: Sessions | undefined): Identify {
  return ({ headers, context, byKeyOnly }) => {
    const presented = presentedKey(headers);
    if (presented === undefined) {
      const session = byKeyOnly ? undefined : sessions?.of(context.req.raw);
      if (session === undefined || session === "over") return session;
      return { caller: session.caller, again: session.again, session };
    }
    const again = (): Caller | "key" => {
      const known = keyring.identify(presented);
      return known === undefined ? "key" : callerOf(known);
    };
    const caller = again();
    return caller === "key" ? undefined : { caller, again };
  };
}

/**
 * Resolves to who calls. A valid key is never throttled (contract §3), and a session that is over is no guess at one.
 * @throws HttpError 401, or 429 over the limit of failures; both are recorded
 */
export type Authenticator = (presented: Presented) => Promise<Identity>;

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { server, identify, refusal, throttle, refusals, audit } = options;
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
    if (identity !== undefined && identity !== "over") {
      throttle.reset(client);
      return identity;
    }
    const waitMs = identity === "over" ? 0 : throttle.fail(client);
    refusals.add(waitMs > 0 ? "throttled" : "key");
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
