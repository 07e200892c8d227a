import type { Logger } from "@bridge/ports";
import type { ComponentFailure } from "../view/bridge-view.ts";
import { failureOf } from "./task-group.ts";
import { stopped } from "../stopped.ts";

/** A background component that runs until it is stopped. */
export class Background {
  readonly name: string;
  /** Never rejects. */
  readonly ended: Promise<void>;
  readonly #stop = new AbortController();
  #running = true;
  #failure: ComponentFailure | undefined;

  constructor(name: string, run: (signal: AbortSignal) => Promise<void>, logger: Logger) {
    this.name = name;
    this.ended = run(this.#stop.signal)
      .catch((error: unknown) => void (this.#failure = failureOf(name, error, logger)))
      .finally(() => (this.#running = false));
  }

  get running(): boolean {
    return this.#running;
  }

  get failure(): ComponentFailure | undefined {
    return this.#failure;
  }

  stop(): void {
    this.#stop.abort(stopped());
  }
}
