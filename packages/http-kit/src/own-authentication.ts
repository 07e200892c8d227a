import type { Clock, Logger } from "@bridge/ports";
import { kindOf } from "@bridge/ports/internal";
import type { Context } from "hono";
import type { Identify } from "./authenticator.ts";
import { HttpError } from "./http-error.ts";
import type { Role } from "@bridge/ports/internal";
import { isPermission, type Permission, PERMISSIONS } from "@bridge/ports/internal";
import { unquoting } from "./unquoting.ts";

/** Who calls, and what they may do. */
export interface Caller {
  /** What audit records call them: 1 to 128 characters, none of them a control character. */
  readonly name: string;
  readonly permissions: readonly Permission[];
  /** The role that these permissions are those of, to be shown to the caller. It opens nothing. */
  readonly role?: Role | undefined;
}

/**
 * Tells who has sent a request; `undefined`: nobody who may call, which is answered with 401 and throttled.
 *
 * Headers that it sets on the context go with the answer: `setCookie(context, …)`, `context.header("WWW-Authenticate", …)`. The server's
 * own win, but for its `WWW-Authenticate`.
 *
 * Leave the body of the request alone. What it throws, and what takes longer than 10 seconds, is answered with 503, and so
 * is a call while 100 others have not been answered. The log has the name and the `code` of what it throws, those of its causes, and where
 * it arose; no messages, as they may quote what was sent.
 */
export type Authenticate = (context: Context) => Caller | undefined | PromiseLike<Caller | undefined>;

const ANSWER_MS = 10_000;
/** Calls that have not been answered yet, those included that nobody waits for any more. */
const OUTSTANDING = 100;
const MAX_NAME = 128;
/** How permissions are written: of what is none, and is written otherwise, only the kind is told. */
const PERMISSION = /^[a-z]{1,20}(?:\.[a-z_]{1,20})?$/;

/** What is wrong, in our words: nothing of the request is in it. */
class Unanswered extends Error {}

/** Asks a function of the program who calls. */
export function ownAuthentication(
  authenticate: Authenticate,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Identify {
  let outstanding = 0;
  const ask = async (context: Context): Promise<unknown> => {
    outstanding++;
    try {
      return await authenticate(context);
    } finally {
      outstanding--;
    }
  };
  return async ({ context }) => {
    const limit = new AbortController();
    try {
      if (outstanding >= OUTSTANDING) throw new Unanswered(`${OUTSTANDING} calls of it have not been answered`);
      const late = clock.delay(ANSWER_MS, limit.signal).then(() => {
        throw new Unanswered(`it did not answer within ${ANSWER_MS} ms`);
      });
      const asked = ask(context);
      // Of the two, one is not waited for any more.
      for (const one of [late, asked]) one.catch(() => {});
      const caller = callerOf(await Promise.race([asked, late]));
      return caller && { caller };
    } catch (thrown) {
      logger.error("authenticate failed: the request is refused", {
        error: thrown instanceof Unanswered ? thrown.message : unquoting(thrown),
      });
      throw new HttpError(503, "authentication is not available");
    } finally {
      limit.abort();
    }
  };
}

/** @throws Unanswered when it is no caller: what is not understood lets nobody in */
function callerOf(answer: unknown): Caller | undefined {
  if (answer === undefined) return undefined;
  if (typeof answer !== "object" || answer === null)
    throw new Unanswered("authenticate answered with no caller: answer with { name, permissions }, or with undefined");
  const { name, permissions } = answer as { readonly name?: unknown; readonly permissions?: unknown };
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME || /\p{Cc}/u.test(name))
    throw new Unanswered(`authenticate answered with a name that is not 1 to ${MAX_NAME} printable characters`);
  if (!Array.isArray(permissions)) throw new Unanswered("authenticate answered with permissions that are no list");
  for (const permission of permissions as readonly unknown[]) {
    if (isPermission(permission)) continue;
    const shown =
      typeof permission === "string" && PERMISSION.test(permission) ? `"${permission}"` : kindOf(permission);
    throw new Unanswered(
      `authenticate answered with a permission that is none, ${shown}: there are ${PERMISSIONS.join(", ")}`,
    );
  }
  return { name, permissions: permissions as readonly Permission[] };
}
