import { BridgeError } from "../errors.ts";
import { type Clock, type Logger } from "../seams.ts";

/** Work that comes round again and again, once at a time, until it is disposed. A round that fails is logged. */
export function sweepEvery(
  ms: number,
  round: (signal: AbortSignal) => Promise<void>,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): AsyncDisposable {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    try {
      await round(stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted)
        logger.warn("what is old was not deleted", { error: BridgeError.from(error).message });
    } finally {
      running = undefined;
    }
  }

  const timer = clock.every(ms, () => {
    running ??= run();
  });
  return {
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      stopping.abort();
      await running;
    },
  };
}
