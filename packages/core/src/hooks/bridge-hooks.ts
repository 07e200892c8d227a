import { kindOf } from "@bridge/ports/internal";
import type { DeadLetter, DeadLetterHead, Envelope } from "@bridge/ports";
import type { SupervisorState } from "../supervisor/contract.ts";
import type { Progress } from "../view/progress.ts";

/**
 * Functions of a program that are told what happens in its bridge.
 *
 * No route waits for a hook. Each hook is called for one event after another, in a turn of the event loop of its own; up to 1,000
 * events wait for it, then the oldest are lost. What a hook throws is logged, a call that takes longer than 10 seconds is given up,
 * and what a hook does before its first `await` gets at most a tenth of the event loop. `stats()` and `/metrics` count what was lost and what
 * failed. A shutdown gives the hooks 2 seconds for what still waits.
 *
 * Errors and reasons do not show what came in through a reference, as in the log.
 */
export interface BridgeHooks {
  /** A dead letter is durable in the store. May be told twice of one, as when a source repeats its message. */
  readonly onDeadLetter?: Hook<DeadLetterEvent> | undefined;
  /** An attempt to deliver a message failed: a send or a processor. Whether another one follows is up to the policy. */
  readonly onAttemptFailed?: Hook<FailedAttempt> | undefined;
  /** The bridge has another state. */
  readonly onState?: Hook<StateChange> | undefined;
  /** A route gets on in another way, such as `stalled` after `moving`. */
  readonly onProgress?: Hook<ProgressChange> | undefined;
}

/** What it returns is waited for before its next call, and then forgotten. */
export type Hook<Event> = (event: Event, context: HookContext) => unknown;

/** What a hook is given with an event. */
export interface HookContext {
  /** Aborts when nobody waits for this call any more: after 10 seconds, or at the end of a shutdown. */
  readonly signal: AbortSignal;
}

/** A dead letter without its message, which can be loaded. */
export interface DeadLetterEvent extends DeadLetterHead {
  /**
   * Reads the whole entry, with headers and payload; `undefined` when it is there no more. Rejects with a `BridgeError` when the
   * store cannot be read, after 10 seconds at the latest.
   */
  load(signal?: AbortSignal): Promise<DeadLetter | undefined>;
}

/** A message as it was received, without its payload. */
export interface MessageHead extends Pick<
  Envelope,
  "id" | "sourceId" | "subject" | "headers" | "contentType" | "correlationId" | "receivedAt"
> {
  /** Bytes of the payload. */
  readonly size: number;
}

/** An attempt that failed. */
export interface FailedAttempt {
  /** The id of the route. */
  readonly route: string;
  /** The id of the binding; absent when a processor failed, before one was chosen. */
  readonly binding?: string;
  readonly message: MessageHead;
  /**
   * What was thrown, with its stack and cause, such as by your handler. A copy without its cause where it quotes what came in
   * through a reference.
   */
  readonly error: Error;
  /** 1 for the first. */
  readonly attempt: number;
}

/** The bridge went from one state to another. */
export interface StateChange {
  readonly from: SupervisorState["kind"];
  readonly to: SupervisorState["kind"];
  /** Epoch milliseconds. */
  readonly at: number;
  /** Why it is `paused` or `terminal`, when nobody asked for that. */
  readonly error?: Error;
}

/** A route gets on in another way. */
export interface ProgressChange {
  /** The id of the route. */
  readonly route: string;
  readonly from: Progress;
  readonly to: Progress;
  /** In words; absent when it is moving or idle. */
  readonly reason?: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

const HOOK_NAMES = [
  "onDeadLetter",
  "onAttemptFailed",
  "onState",
  "onProgress",
] as const satisfies (keyof BridgeHooks)[];

const REMEDY = `give it an object with functions under these names: ${HOOK_NAMES.join(", ")}`;

export type HookName = (typeof HOOK_NAMES)[number];

/** A problem of one hook, or, without a name, of all. */
export type HookProblem = readonly [name: string | undefined, message: string];

/** What is wrong with hooks that the compiler has not seen. An instance of a class may have fields of its own besides. */
export function hookProblems(hooks: unknown): readonly HookProblem[] {
  if (hooks === undefined) return [];
  if (typeof hooks !== "object" || hooks === null) return [[undefined, `is ${kindOf(hooks)}: ${REMEDY}`]];
  const problems: HookProblem[] = [];
  const given = hooks as Readonly<Record<string, unknown>>;
  if (isOfClass(hooks) && HOOK_NAMES.every((name) => given[name] === undefined))
    return [[undefined, `is ${kindOf(hooks)} without a hook: ${REMEDY}`]];
  for (const name of new Set([...(isOfClass(hooks) ? [] : Object.keys(given)), ...HOOK_NAMES])) {
    const hook = given[name];
    const known = (HOOK_NAMES as readonly string[]).includes(name);
    if (!known) problems.push([name, `is no hook: there are ${HOOK_NAMES.join(", ")}`]);
    else if (hook !== undefined && typeof hook !== "function")
      problems.push([name, `is ${kindOf(hook)}: give it a function`]);
  }
  return problems;
}

function isOfClass(hooks: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(hooks);
  return prototype !== Object.prototype && prototype !== null;
}
