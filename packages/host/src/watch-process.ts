import type { Logger } from "@bridge/ports";
import { EXIT_CODES } from "./exit-codes.ts";
import type { HostProcess } from "./host-process.ts";
import { messageOf } from "./message-of.ts";

/** Whoever ends the process from outside; disposing it leaves the process as it was. */
export interface ProcessWatch extends Disposable {
  /** Resolves at the first SIGINT or SIGTERM; the second one ends the process at once. */
  readonly asked: Promise<NodeJS.Signals>;
  /** Aborted by then, so that what is waited for is waited for no more. */
  readonly ending: AbortSignal;
  /** Calls `reload` at each SIGHUP from now on, and at once if there was one before. */
  onReload(reload: () => void): void;
}

/** Takes over the signals of the process and the errors that nobody caught. `logger` is asked for at each event. */
export function watchProcess(host: HostProcess, logger: () => Logger): ProcessWatch {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const ending = new AbortController();
  const onEnd = (signal: NodeJS.Signals): void => {
    if (!ending.signal.aborted) {
      ending.abort(new Error(`asked to end by ${signal}`));
      resolve(signal);
      return;
    }
    logger().warn("second signal: leaving at once", { signal });
    host.exit(EXIT_CODES.forced);
  };
  let early = false;
  let reload = (): void => void (early = true);
  const onReload = (): void => {
    logger().info("SIGHUP: the configuration is read again");
    reload();
  };
  const onUncaught = (thrown: unknown): void => {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    logger().error("uncaught error: leaving at once", { error: messageOf(thrown), stack });
    host.exit(EXIT_CODES.crashed);
  };

  host.on("SIGINT", onEnd);
  host.on("SIGTERM", onEnd);
  host.on("SIGHUP", onReload);
  host.on("uncaughtException", onUncaught);
  for (const stream of [host.stdout, host.stderr]) stream.on("error", ignoreLostReader);
  return {
    asked: promise,
    ending: ending.signal,
    onReload(handler) {
      reload = handler;
      if (early) reload();
      early = false;
    },
    [Symbol.dispose]() {
      host.off("SIGINT", onEnd);
      host.off("SIGTERM", onEnd);
      host.off("SIGHUP", onReload);
      host.off("uncaughtException", onUncaught);
      for (const stream of [host.stdout, host.stderr]) stream.off("error", ignoreLostReader);
    },
  };
}

/** Nobody reading the log or the metrics is no reason to stop carrying messages. */
function ignoreLostReader(): void {}
