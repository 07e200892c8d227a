import type { Logger } from "@bridge/ports";
import type { ComponentFailure } from "../view/bridge-view.ts";

/** The background components of a route: started together, watched for failures, joined at the end. */
export class TaskGroup {
  readonly #logger: Logger;
  readonly #running = new Map<Promise<void>, string>();
  readonly #failures = new Map<string, ComponentFailure>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** One line for each component that has failed; empty while healthy. */
  get failures(): readonly ComponentFailure[] {
    return [...this.#failures.values()];
  }

  spawn(component: string, run: () => Promise<void>): void {
    const task = run()
      .catch((error: unknown) => this.fail(component, error))
      .finally(() => this.#running.delete(task));
    this.#running.set(task, component);
  }

  /** Records a failure of `component`, which makes the bridge unhealthy. */
  fail(component: string, error: unknown): void {
    this.#failures.set(component, failureOf(component, error, this.#logger));
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

/** Describes a failure of `component` for monitors, and logs it with its stack. */
export function failureOf(component: string, error: unknown, logger: Logger): ComponentFailure {
  const text = error instanceof Error ? error.message : String(error);
  logger.error("background component failed", {
    component,
    error: text,
    ...(error instanceof Error && error.stack !== undefined && { stack: error.stack }),
  });
  return { component, error: text };
}
