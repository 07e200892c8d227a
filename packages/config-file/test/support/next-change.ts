import { setTimeout as delay } from "node:timers/promises";
import type { ConfigChange, ConfigStore } from "@bridge/ports";

/** A watch of a store, read as a test goes on. */
export class Watching implements AsyncDisposable {
  readonly #over = new AbortController();
  readonly #changes: AsyncIterator<ConfigChange>;

  constructor(store: ConfigStore) {
    this.#changes = store.watch(this.#over.signal)[Symbol.asyncIterator]();
  }

  async next(): Promise<ConfigChange> {
    const result = (await Promise.race([this.#changes.next(), tooLate()])) as IteratorResult<ConfigChange, undefined>;
    if (result.done === true) throw new Error("the watch has ended");
    return result.value;
  }

  /** The id of the bridge in the next document that is told; skips what is told on the way, as long as it is no document. */
  async nextId(): Promise<unknown> {
    for (;;) {
      const change = await this.next();
      if (change.kind === "changed") return (change.stored.document["bridge"] as { id?: unknown } | undefined)?.id;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new Error("the test is over"));
    await this.#changes.return?.();
  }
}

async function tooLate(): Promise<never> {
  await delay(20_000, undefined, { ref: false });
  throw new Error("no change was told within 20 s");
}
