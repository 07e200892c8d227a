import type { FunctionMessage } from "./function-message.ts";

/** What a handler is given besides the message. */
export interface HandlerContext {
  /**
   * Ends when nobody waits for the handler any more: after `send_timeout`, when a lease is lost, and at a stop when its time
   * for what is in flight is over. Give it to whatever the handler waits for. A hundred calls that ignore it, and the route
   * stands still until some have ended.
   */
  readonly signal: AbortSignal;
}

/**
 * Handles a message. Returning, or resolving, accepts it; throwing is a transient failure, after which it is tried again;
 * throwing a {@link PermanentError} sends it by `on_permanent_failure`. What is returned does not matter, unless it is a
 * generator: that fails, because nothing of it has run.
 */
export type HandlerFunction = (message: FunctionMessage, context: HandlerContext) => unknown;

/** What a handler with a schema is given besides the value. */
export interface SchemaHandlerContext extends HandlerContext {
  readonly message: FunctionMessage;
}

/** As {@link HandlerFunction}, of what a schema has made of the payload. */
export type SchemaHandlerFunction<Value> = (value: Value, context: SchemaHandlerContext) => unknown;

/** What a batch handler returns: nothing when all are accepted, or for each message in order why not, or nothing. */
export type BatchOutcome = undefined | void | readonly (Error | undefined)[];

/** Handles messages together. Throwing fails each of them. */
export type BatchFunction = (
  messages: readonly FunctionMessage[],
  context: HandlerContext,
) => BatchOutcome | PromiseLike<BatchOutcome>;
