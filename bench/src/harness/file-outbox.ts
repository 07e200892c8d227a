import { join } from "node:path";
import type { OutboxBlock } from "../bridge/start-bridge.ts";
import { folder } from "./folder.ts";

/** An outbox in a file that goes with its folder, as the configuration names it. */
export async function fileOutbox(): Promise<AsyncDisposable & { readonly block: OutboxBlock }> {
  const place = await folder();
  return {
    block: { type: "file", options: { path: join(place.path, "outbox.db") } },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}
