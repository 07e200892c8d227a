import { AsyncResource } from "node:async_hooks";

/**
 * Calls a function of the program in an asynchronous context that begins as the one here and ends with it: what an
 * `AsyncLocalStorage` is told there by `enterWith`, such as who the user is, would else be there for the next message.
 */
export function confined<Args extends readonly unknown[], Result>(
  run: (...args: Args) => Result,
  ...args: Args
): Result {
  const scope = new AsyncResource("BridgeHandler", { requireManualDestroy: true });
  return scope.runInAsyncScope(run, undefined, ...args);
}
