import type { Permission } from "@bridge/ports/internal";
import type { Identity } from "./authenticator.ts";
import { BodyTakenError, discardBody, readBody } from "./body.ts";
import { decodeBody } from "./decode.ts";
import { decodeQuery } from "./decode-query.ts";
import type { Endpoint, Reply } from "./endpoint.ts";
import type { Exchange } from "./exchange.ts";
import { HttpError } from "./http-error.ts";
import type { Caller } from "./own-authentication.ts";
import { CallSession } from "./session/call-session.ts";
import type { Sessions } from "./session/sessions.ts";

/** What the calls of all rows have in common. */
export interface RowCommon {
  /** Absent: it has none. */
  readonly sessions: Sessions | undefined;
  /** Stands before the name of a caller who may not do something. */
  readonly called: "the key " | "";
  /** The answer to an error that is no {@link HttpError}; `undefined` when it is unexpected. */
  readonly translate: (error: unknown) => HttpError | undefined;
}

interface RowRun<Action extends string> extends RowCommon {
  readonly identity: Identity;
  /** Between the checks and the work. */
  readonly begin: (row: Endpoint<Action>, body: unknown, query: unknown) => Promise<void>;
}

/** The checks of a request that was let in, from its permission on (contract §2), and its work. @throws whatever is to be answered */
export async function runRow<Action extends string>(
  row: Endpoint<Action>,
  exchange: Exchange<Action>,
  { identity, called, sessions, translate, begin }: RowRun<Action>,
): Promise<Reply> {
  const { request, params } = exchange;
  const { caller } = identity;
  const needs = row.needs ?? "read";
  if (row.access !== "open" && needs !== "any") mustHave(caller, needs, called);
  const asked = new URL(request.url).searchParams;
  for (const need of row.needsFor ?? [])
    if ("parameter" in need && asked.getAll(need.parameter).some((value) => value !== need.but))
      mustHave(caller, need.permission, called);
  const { query, body } = await checked(row, exchange, caller, called).catch((thrown: unknown) => {
    const known = thrown instanceof HttpError ? thrown : translate(thrown);
    const isTold = known !== undefined && known.status !== 403 && !(known instanceof BodyTakenError);
    // What is wrong with the request is not told to who may do nothing of it, whatever they send.
    const lacked = isTold ? lackedWhatever(row, caller) : undefined;
    if (lacked !== undefined) mustHave(caller, lacked, called);
    throw thrown;
  });
  await begin(row, body, query);
  const header = (name: string): string | undefined => request.headers.get(name) ?? undefined;
  const session = sessions && new CallSession(sessions, request, identity.session);
  return row.handle({ params, query, body, actor: caller.name, caller, header, session });
}

/** What of a request comes behind the permission that all of the row's need. @throws HttpError */
async function checked<Action extends string>(
  row: Endpoint<Action>,
  { context, request, params }: Exchange<Action>,
  caller: Caller,
  called: RowCommon["called"],
) {
  row.guard?.(params);
  const bytes = row.body === undefined ? await discardBody(context) : await readBody(context);
  const query = decodeQuery(row.query, new URL(request.url).search);
  const body = row.body && bytes && (row.bodyType === undefined ? decodeBody(row.body, bytes) : bytes);
  for (const need of row.needsFor ?? [])
    if ("when" in need && need.when(body)) mustHave(caller, need.permission, called);
  await row.admit?.(params, (permission) => mustHave(caller, permission, called));
  return { query, body };
}

/** Of a row whose every call needs something that only the call tells: the first of it, when the caller has none. */
function lackedWhatever({ needs, needsFor = [], mayNeed = [] }: Endpoint, caller: Caller): Permission | undefined {
  if (needs !== "any") return undefined;
  const all = [...needsFor.map(({ permission }) => permission), ...mayNeed];
  return all.some((permission) => caller.permissions.includes(permission)) ? undefined : all[0];
}

/** @throws HttpError 403 */
function mustHave({ name, permissions }: Caller, needs: Permission, called: RowCommon["called"]): void {
  if (permissions.includes(needs)) return;
  const who = `${called}${JSON.stringify(name)}`;
  const fields = { reason: "permission", needs };
  throw new HttpError(403, `${who} may not do this: it needs ${needs}`, {}, { fields });
}
