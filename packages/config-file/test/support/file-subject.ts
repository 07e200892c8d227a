import { chmod, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigDocument, ConfigPlace, ConfigStoreSubject } from "@bridge/conformance";
import { stringify } from "yaml";
import { type ConfigFile, openConfigFile } from "../../src/index.ts";
import { leftElsewhere } from "./left-elsewhere.ts";

/** Told by the system, and settled at once. */
const watch = () => ({ mode: "notify", pollIntervalMs: 60_000, debounceMs: 1 }) as const;

/** What the suite is to try: a file of its own for each case. */
export const fileSubject: Omit<ConfigStoreSubject, "except"> = {
  open: place,
  async openReadOnly(document) {
    const { store, ...rest } = await place(document);
    await chmod(store.source, 0o444);
    return { store, ...rest };
  },
};

async function place(document: ConfigDocument | undefined): Promise<ConfigPlace> {
  const folder = await mkdtemp(join(tmpdir(), "bridge-config-"));
  const path = join(folder, "bridge.yaml");
  const open = (): ConfigFile => openConfigFile(path, { watch });
  // As editors do it: whoever writes in place may be seen half-way, by a watch that waits as little as this one.
  const replace = async (next: ConfigDocument): Promise<void> => {
    await writeFile(`${path}.new`, stringify(next));
    await rename(`${path}.new`, path);
  };
  if (document !== undefined) await replace(document);
  return {
    store: open(),
    second: async () => open(),
    reopen: async () => open(),
    leaver: () => leftElsewhere(path),
    content: () => readFile(path, "utf8").catch(() => undefined),
    replace,
    remove: () => rm(path),
    damage: (secret) => writeFile(path, `{"bridge": "${secret}`),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
