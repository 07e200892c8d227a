import type { Logger } from "@bridge/ports";
import { Route } from "../route/route.ts";
import type { RouteParts } from "../route/route-parts.ts";
import type { ComponentFailure } from "../view/bridge-view.ts";
import { TaskGroup } from "./task-group.ts";
import { stopped } from "../stopped.ts";

/** One route with its background components; starts and stops independently of other routes. */
export class RouteRunner {
  readonly route: Route;
  readonly parts: RouteParts;
  readonly #tasks: TaskGroup;
  readonly #work = new AbortController();

  constructor(parts: RouteParts, logger: Logger) {
    this.parts = parts;
    this.#tasks = new TaskGroup(logger);
    this.route = new Route(parts, (bug) => this.#tasks.fail(`route ${parts.config.id}`, bug));
  }

  get failures(): readonly ComponentFailure[] {
    const { route } = this;
    const stuck = route.stuck.map((part) => ({
      component: `route ${route.id}`,
      error: `${part}: calls that were given up do not end, so no more are made`,
    }));
    return [...this.#tasks.failures, ...stuck];
  }

  /** The names of the components that have not ended. */
  get running(): readonly string[] {
    return this.#tasks.running;
  }

  start(): void {
    const { route } = this;
    for (const drain of route.drains) this.#tasks.spawn(drain.name, () => drain.run(this.#work.signal));
    this.#tasks.spawn(`route ${route.id}`, () => route.run(this.#work.signal));
  }

  /** Cancels all work, which settles nothing. */
  cancel(): void {
    this.route.cancelAll();
    this.#work.abort(stopped());
  }

  /** Stops waiting for stores. What they have not answered is unknown, and is redelivered. */
  giveUp(): void {
    this.route.giveUp();
  }

  /** Resolves when every component has ended. */
  join(): Promise<void> {
    return this.#tasks.join();
  }

  [Symbol.dispose](): void {
    this.route[Symbol.dispose]();
  }
}
