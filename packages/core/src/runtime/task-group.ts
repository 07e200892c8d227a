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

  /** The names of the components that have not ended. */
  get running(): readonly string[] {
    return [...this.#running.values()];
  }

  /** Resolves when every component has ended. */
  async join(): Promise<void> {
    await Promise.all(this.#running.keys());
  }
}
