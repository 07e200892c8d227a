import { isThenable, unheard } from "@bridge/ports/internal";

/**
 * Ends what somebody else's code has made and nobody will use, if it can be ended; of a promise, what it comes to. Waits for
 * nothing, and never throws: what comes of it is nobody's.
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
    // It is nothing that can be ended, or does not let itself.
  }
}
