import type { Context } from "hono";
import type { AnswerTurn } from "./answers-at-once.ts";
import type { Endpoint } from "./endpoint.ts";
import type { StreamGrant } from "./stream-grant.ts";

/** A request on its way. */
export interface Exchange<Action extends string> {
  readonly context: Context;
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly peer: string;
  readonly clientAddr: string;
  readonly correlationId: string;
  /** The rows of its path, one for each method; none for an unknown path. */
  readonly rows: readonly Endpoint<Action>[];
  /** The row of its path and method. */
  readonly row: Endpoint<Action> | undefined;
  /** Ends when its answer is made. */
  readonly turn: AnswerTurn;
  /** Of an answer that goes on. */
  grant: StreamGrant | undefined;
  /** Takes the place of the cookie that let the caller in. */
  renewedCookie: string | undefined;
  /** Of an answer whose carrier does not see how long it is. */
  length: number | undefined;
}
