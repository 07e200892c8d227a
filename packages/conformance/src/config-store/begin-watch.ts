import assert from "node:assert/strict";
import type { ConfigChange, ConfigStore } from "@bridge/ports";
import { within } from "../harness/within.ts";

/** Time for a store to tell what it should not. A busy machine lets a fault pass here, and fails nothing that is sound. */
export const LOOK_MS = 30;

/** A watch that is read as a case goes on. */
export interface Watching extends AsyncDisposable {
  next(): Promise<ConfigChange>;
}

export function beginWatch(store: ConfigStore, signal: AbortSignal): Watching {
  const controller = new AbortController();
  const changes = store.watch(controller.signal)[Symbol.asyncIterator]();
  return {
    async next() {
      const result: IteratorResult<ConfigChange, unknown> = await within(changes.next(), signal, "a change to be told");
      assert.ok(result.done !== true, "the watch has ended");
      return result.value;
    },
    async [Symbol.asyncDispose]() {
      controller.abort(new Error("the case is over"));
      await within(Promise.resolve(changes.return?.()), signal, "the watch to end");
    },
  };
}
