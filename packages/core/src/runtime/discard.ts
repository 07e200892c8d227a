import { isThenable, unheard } from "@bridge/ports/internal";

/**
 * Ends something that other code has made and nobody will use, if it can be ended; of a promise, its result. Waits for
 * nothing and never throws: nobody needs the result.
 */
export function discard(made: unknown): void {
  try {
    if (isThenable(made)) {
      Promise.resolve(made).then(discard, () => {});
      return;
    }
    const { [Symbol.asyncDispose]: later, [Symbol.dispose]: now } = made as Partial<AsyncDisposable & Disposable>;
    if (typeof later === "function") unheard(later.call(made));
    else if (typeof now === "function") now.call(made);
  } catch {
    // It cannot be ended, or its disposal throws.
  }
}
