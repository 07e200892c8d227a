import type { FileDatabaseOptions } from "../../../src/database/file-database.ts";

type Sync = NonNullable<FileDatabaseOptions<unknown>["sync"]>;

/** Syncs that wait until the test lets them through, or makes them fail. */
export class SyncGate {
  readonly #waiting: PromiseWithResolvers<void>[] = [];
  readonly #arrivals: (() => void)[] = [];
  /** How many have been asked for. */
  count = 0;

  readonly sync: Sync = () => {
    this.count++;
    const sync = Promise.withResolvers<void>();
    this.#waiting.push(sync);
    this.#arrivals.shift()?.();
    return sync.promise;
  };

  /** Resolves when a sync waits. */
  async arrival(): Promise<void> {
    if (this.#waiting.length === 0) await new Promise<void>((resolve) => this.#arrivals.push(resolve));
  }

  async pass(): Promise<void> {
    await this.arrival();
    this.#waiting.shift()?.resolve();
  }

  async fail(code: string): Promise<void> {
    await this.arrival();
    this.#waiting.shift()?.reject(Object.assign(new Error(`${code}: fdatasync`), { code, syscall: "fdatasync" }));
  }
}

/** Whether a promise has settled after all that was already on its way. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}
