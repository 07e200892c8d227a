import { orAborted } from "@bridge/ports/internal";

/** `promise`; when `signal` aborts first, an error that says what was waited for. */
export async function within<T>(promise: PromiseLike<T>, signal: AbortSignal, what: string): Promise<T> {
  try {
    return await orAborted(Promise.resolve(promise), signal);
  } catch (error) {
    if (signal.aborted && error === signal.reason) throw new Error(`waited in vain for ${what}`, { cause: error });
    throw error;
  }
}
