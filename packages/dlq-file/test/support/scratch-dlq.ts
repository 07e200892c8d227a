import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type DlqAdmin, type DlqStore, silentLogger, systemClock } from "@bridge/ports";
import { type FileDlqOptions, openFileDlq } from "../../src/index.ts";

type Store = DlqStore & { readonly admin: DlqAdmin };

const PATHS = new WeakMap<DlqStore, string>();

/** A folder of its own for each use. */
export function scratchFolder(): string {
  return mkdtempSync(join(tmpdir(), "dlq-file-"));
}

/** A DLQ in a folder of its own, which goes with it. */
export function openScratchDlq(options: Partial<FileDlqOptions> = {}): Store {
  return openIn(scratchFolder(), options);
}

/**
 * Another DLQ on what the file of `store` holds at this moment, as if the process had been killed: the store itself is
 * never closed in between.
 */
export async function survivorOf(store: DlqStore): Promise<Store> {
  const folder = dirname(PATHS.get(store) ?? "");
  const copy = scratchFolder();
  cpSync(folder, copy, { recursive: true });
  await store[Symbol.asyncDispose]();
  return openIn(copy, {});
}

function openIn(folder: string, options: Partial<FileDlqOptions>): Store {
  const path = join(folder, "dlq.db");
  const store = openFileDlq({ path, clock: systemClock, logger: silentLogger, ...options });
  const scratch: Store = {
    ...store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  PATHS.set(scratch, path);
  return scratch;
}
