import { orAborted } from "@bridge/ports/internal";

/** Those who wait for something to become true. */
export class Watchers {
  readonly #watchers = new Set<() => void>();

  /** Tells that something has changed. */
  changed(): void {
    for (const watch of this.#watchers) watch();
  }

  /** Resolves once `condition` holds, which is tried now and after each change; rejects when `signal` aborts. */
  async until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    if (condition()) return;
    const met = Promise.withResolvers<void>();
    const watch = (): void => {
      if (condition()) met.resolve();
    };
    this.#watchers.add(watch);
    try {
      await orAborted(met.promise, signal);
    } finally {
      this.#watchers.delete(watch);
    }
  }
}
