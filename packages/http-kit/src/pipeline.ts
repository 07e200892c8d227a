import { type Seams } from "@bridge/ports";
import { atOnce, Slices } from "@bridge/ports/internal";
import type { Context } from "hono";
import type { AnswerBody } from "./answer.ts";
import { AnswersAtOnce } from "./answers-at-once.ts";
import { allowedMethods } from "./allowed-methods.ts";
import type { AuditTrail, CallRecord } from "./audit-trail.ts";
import type { AuthRefusals } from "./auth-refusals.ts";
import type { Authenticator, Identity } from "./authenticator.ts";
import { BodyTakenError } from "./body.ts";
import { displayAddress, peerAddress } from "./client-address.ts";
import { correlationId } from "./common-headers.ts";
import type { Cors } from "./cors.ts";
import type { Detail, Endpoint, Outcome, Reply } from "./endpoint.ts";
import type { Exchange } from "./exchange.ts";
import { HttpError } from "./http-error.ts";
import { bodyOf, responseOf } from "./response-of.ts";
import { type RowCommon, runRow } from "./run-row.ts";
import { StreamBody } from "./stream-body.ts";
import { StreamGrant } from "./stream-grant.ts";
import type { Streams } from "./streams.ts";
import { unquoting } from "./unquoting.ts";
import { veiledBody } from "./veiled-body.ts";

/** A resource id in an audit record is cut here: anybody with a key can make one up. */
const MAX_RESOURCE_ID = 256;

export interface PipelineOptions<Action extends string> extends Seams, RowCommon {
  readonly server: "admin" | "monitor";
  readonly audit: AuditTrail<Action>;
  readonly authenticate: Authenticator;
  /** Counts those that it turns away. */
  readonly refusals: AuthRefusals;
  readonly cors: Cors;
  /** Whether even an unknown path is answered only to those who have a key. */
  readonly hidesPaths: boolean;
  readonly veil: () => ((text: string) => string) | undefined;
  /** Those of the rows that have any. */
  readonly streams: Streams;
}

/** Calls what is open to anybody. */
const NOBODY: Identity = { caller: { name: "", permissions: [] } };

/**
 * What all endpoints share. The checks come in this order (contract §2): preflight, 401 or 429, unknown path 404, 405,
 * 403, the row's guard (503, 404), 413, 400, a turn of its own (503), room in the audit log (503); then the work, its audit
 * record, the answer.
 */
export class Pipeline<Action extends string> {
  readonly #options: PipelineOptions<Action>;
  readonly #answers: AnswersAtOnce;

  constructor(options: PipelineOptions<Action>) {
    this.#options = options;
    this.#answers = new AnswersAtOnce(options.clock);
  }

  /** Answers a request to the path of `rows`; without rows, to an unknown path. Never rejects. */
  async handle(context: Context, rows: readonly Endpoint<Action>[]): Promise<Response> {
    const { clock, cors, logger, random } = this.#options;
    const request = context.req.raw;
    const startedAt = clock.monotonic();
    const peer = peerAddress(context);
    const method = request.method === "HEAD" ? "GET" : request.method;
    const row = rows.find((candidate) => candidate.method === method);
    using turn = this.#answers.turn(row);
    const exchange: Exchange<Action> = {
      context,
      request,
      params: context.req.param(),
      peer,
      clientAddr: displayAddress(request.headers, peer),
      correlationId: correlationId(request.headers, random),
      rows,
      row,
      turn,
      grant: undefined,
      renewedCookie: undefined,
      length: undefined,
    };
    const preflight = cors.preflight(request);
    const made: Reply =
      preflight === undefined ? await this.#answer(exchange) : { status: 204, body: undefined, headers: preflight };
    const [slices, veil] = [new Slices(clock), this.#options.veil()];
    const veiled = async (shown: Reply): Promise<Reply> =>
      veil === undefined || shown.body instanceof StreamBody ? shown : slices.run(veiledBody(shown, veil));
    let reply = await veiled(made);
    logger.debug("request answered", {
      method: request.method,
      path: rows[0]?.path ?? "unknown",
      status: reply.status,
      duration_ms: Math.round(clock.monotonic() - startedAt),
      correlation_id: exchange.correlationId,
    });
    const failed = (error: unknown): void => this.#logUnexpected(error, exchange);
    const making = { clock, slices, veil: this.#options.veil, failed };
    let body: AnswerBody;
    try {
      body = await bodyOf(reply, exchange, making);
    } catch (error) {
      reply = await veiled(this.#refusal(error, exchange));
      exchange.length = undefined;
      body = await bodyOf(reply, exchange, making);
    }
    if (!(reply.body instanceof StreamBody)) exchange.grant?.[Symbol.dispose]();
    return responseOf(reply, body, exchange, cors);
  }

  async #answer(exchange: Exchange<Action>): Promise<Reply> {
    const { rows, row, request, context, peer, clientAddr } = exchange;
    const named = row ?? rows[0];
    const isOpen = named === undefined ? !this.#options.hidesPaths : named.access === "open";
    try {
      const { headers } = request;
      const byKeyOnly = row?.byKeyOnly === true;
      const identity = isOpen
        ? NOBODY
        : await this.#options.authenticate({ peer, clientAddr, headers, context, byKeyOnly });
      exchange.renewedCookie = identity.session?.renewed;
      if (named === undefined) throw new HttpError(404, "not found");
      return await this.#perform(exchange, named, identity);
    } catch (error) {
      return this.#refusal(error, exchange);
    }
  }

  /** A request that was let in: whatever becomes of it is recorded as the action of its path. */
  async #perform(exchange: Exchange<Action>, named: Endpoint<Action>, identity: Identity): Promise<Reply> {
    const { audit, clock, streams } = this.#options;
    const { caller, session } = identity;
    if (exchange.row !== undefined && session?.mayBeCrossSite === true) return this.#crossSite(exchange, identity);
    const by = { actor: caller.name, clientAddr: exchange.clientAddr };
    const record = async (
      action: Action,
      outcome: Outcome,
      { detail, ...rest }: Pick<CallRecord<Action>, "detail" | "refused">,
    ) =>
      audit.record({
        action,
        outcome,
        ...by,
        resourceId: (named.resourceId?.(exchange.params) ?? "").slice(0, MAX_RESOURCE_ID),
        ...rest,
        ...((detail !== undefined || session !== undefined) && { detail: { ...detail, ...viaOf(identity) } }),
      });
    let begun = false;
    const begin = async (row: Endpoint<Action>, body: unknown, query: unknown): Promise<void> => {
      await exchange.turn.comes(() => exchange.request.signal);
      if (row.stream !== undefined && exchange.request.method !== "HEAD")
        exchange.grant = new StreamGrant({ streams, row: row.stream, identity, clock });
      if (row.audit !== undefined && !(await audit.hasRoomFor(row.audit))) throw auditBusy();
      const { begin: first } = row;
      begun = true;
      if (first === undefined) return;
      const detail = first.detail?.(body, query);
      if (!(await record(first.action, "pending", detail === undefined ? {} : { detail }))) throw auditBusy();
    };
    let reply: Reply;
    try {
      if (exchange.row === undefined) throw methodNotAllowed(exchange.rows);
      reply = await runRow(exchange.row, exchange, { identity, begin, ...this.#options });
    } catch (error) {
      reply = this.#refusal(error, exchange);
    }
    if (reply.status === 403) this.#options.refusals.add("permission");
    if (named.audit !== undefined) {
      const { audit: action } = named;
      const recordEnd = (said: Reply["audit"]): Promise<boolean> => {
        const veil = this.#options.veil();
        const told = veil === undefined ? said : atOnce(veiledBody(said, veil));
        const { outcome = reply.status < 400 ? "success" : "failure", detail } = told ?? {};
        return record(action, outcome, { ...(detail !== undefined && { detail }), ...(!begun && { refused: true }) });
      };
      const { grant } = exchange;
      const ended = reply.body instanceof StreamBody ? reply.body.ended : undefined;
      if (grant !== undefined && ended !== undefined) grant.onEnd = () => void recordEnd(ended());
      else await recordEnd(reply.audit);
    } else if (reply.status === 403) {
      // What only looks has no action of its own, but whoever tries what they may not do is to be seen.
      await this.#recordRefusal(exchange, identity, reply.audit?.detail);
    }
    return reply;
  }

  /** Whoever calls has not asked for it, as far as can be seen: it stands as no call of theirs in the record. */
  async #crossSite(exchange: Exchange<Action>, identity: Identity): Promise<Reply> {
    const fields = { reason: "csrf" };
    this.#options.refusals.add("csrf");
    const reply = this.#refusal(new HttpError(403, "cross-site request refused", {}, { fields }), exchange);
    await this.#recordRefusal(exchange, identity, reply.audit?.detail);
    return reply;
  }

  async #recordRefusal(
    { clientAddr }: Exchange<Action>,
    identity: Identity,
    detail: Detail | undefined,
  ): Promise<void> {
    const { audit, server } = this.#options;
    const { name } = identity.caller;
    await audit.record({
      action: "auth.failure",
      outcome: "failure",
      actor: name,
      clientAddr,
      resourceType: server,
      detail: { ...detail, ...viaOf(identity) },
      mergeKey: name,
    });
  }

  #logUnexpected(error: unknown, exchange: Exchange<Action>): void {
    this.#options.logger.error("request failed unexpectedly", {
      path: exchange.rows[0]?.path ?? "unknown",
      correlation_id: exchange.correlationId,
      error: unquoting(error),
    });
  }

  #refusal(error: unknown, exchange: Exchange<Action>): Reply {
    const known = error instanceof HttpError ? error : this.#options.translate(error);
    if (known === undefined || known instanceof BodyTakenError) this.#logUnexpected(error, exchange);
    const { status, message, told, headers, facts } = known ?? new HttpError(500, "internal error");
    const { fields, detail } = facts;
    const audit = { detail: { status, error: message, ...fields, ...detail } };
    return { status, body: { error: told, ...fields }, headers, audit };
  }
}

/** How a caller came in, for the record. */
function viaOf({ session }: Identity): Detail {
  return session === undefined ? {} : { via: "session" };
}

/** Nothing was done: a change that nobody could read of later would be one without a trace. */
function auditBusy(): HttpError {
  return new HttpError(
    503,
    "the audit log cannot be written, or not in time: nothing was done; deep health says why, try again",
    { "Retry-After": "5" },
  );
}

function methodNotAllowed(rows: readonly Endpoint[]): HttpError {
  return new HttpError(405, "method not allowed", { Allow: allowedMethods(rows).join(", ") });
}
