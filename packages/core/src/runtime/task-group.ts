import type { Logger } from "@bridge/ports";
import type { ComponentFailure } from "../view/bridge-view.ts";

/** The background components of a runtime: started together, watched for failures, joined at the end. */
export class TaskGroup {
  readonly #logger: Logger;
  readonly #running = new Map<Promise<void>, string>();
  readonly #failures = new Map<string, string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** One line for each component that has failed; empty while healthy. */
  get failures(): readonly ComponentFailure[] {
    return [...this.#failures].map(([component, error]) => ({ component, error }));
  }

  spawn(component: string, run: () => Promise<void>): void {
    const task = run()
      .catch((error: unknown) => this.fail(component, error))
      .finally(() => this.#running.delete(task));
    this.#running.set(task, component);
  }

  /** Enters a failure of `component`, which makes the runtime unhealthy. */
  fail(component: string, error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.#failures.set(component, text);
    this.#logger.error("background component failed", {
      component,
      error: text,
      ...(error instanceof Error && error.stack !== undefined && { stack: error.stack }),
    });
  }

  /** Waits for every component to end; names those still running when `signal` aborts. */
  async join(signal: AbortSignal): Promise<void> {
    const all = Promise.all(this.#running.keys());
    const late = new Promise<never>((_, reject) => {
      const onAbort = (): void => reject(new Error(`still running: ${[...this.#running.values()].join(", ")}`));
      signal.addEventListener("abort", onAbort, { once: true });
      void all.then(() => signal.removeEventListener("abort", onAbort));
    });
    await Promise.race([all, late]);
  }
}
