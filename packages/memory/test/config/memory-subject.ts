import type { ConfigDocument, ConfigPlace, ConfigStoreSubject } from "@bridge/conformance";
import { MemoryDocument } from "../../src/config/memory-document.ts";
import { openMemoryConfig } from "../../src/config/open-memory-config.ts";

export const FORGETS = "it keeps nothing beyond the process, and says so";

/** What the suite is to try. */
export const memorySubject: Omit<ConfigStoreSubject, "except"> = {
  open: async (document) => place(new MemoryDocument(document), false),
  openReadOnly: async (document) => place(new MemoryDocument(document), true),
};

function place(held: MemoryDocument, readOnly: boolean): ConfigPlace {
  const store = openMemoryConfig(held, { readOnly });
  return {
    store,
    second: async () => openMemoryConfig(held),
    content: async () =>
      held.state.kind === "changed"
        ? JSON.stringify(held.state.stored.document)
        : held.state.kind === "missing"
          ? undefined
          : "damaged",
    replace: async (document: ConfigDocument) => held.replace(document),
    remove: async () => held.replace(undefined),
    damage: async () => held.fail(new Error("the document cannot be parsed")),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
