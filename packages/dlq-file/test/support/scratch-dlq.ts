import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type DlqAdmin, type DlqStore, silentLogger, systemClock } from "@bridge/ports";
import { type FileDlqOptions, openFileDlq } from "../../src/index.ts";

export type ScratchDlq = DlqStore & { readonly admin: DlqAdmin };

const PATHS = new WeakMap<DlqStore, string>();

/** A folder that goes with the test. */
export function scratchFolder(): Disposable & { readonly folder: string; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), "dlq-file-"));
  return {
    folder,
    path: join(folder, "dlq.db"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function openDlq(path: string, options: Partial<FileDlqOptions> = {}): ScratchDlq {
  return openFileDlq({ path, clock: systemClock, logger: silentLogger, ...options });
}

/** A DLQ in a folder of its own, which goes with it. */
export function openScratchDlq(options: Partial<FileDlqOptions> = {}): ScratchDlq {
  return openIn(scratchFolder(), options);
}

/**
 * Another DLQ on what the file of `store` holds at this moment, as if the process had been killed: the store itself is
 * not closed in between.
 */
export async function survivorOf(store: DlqStore): Promise<ScratchDlq> {
  const scratch = scratchFolder();
  cpSync(dirname(PATHS.get(store) ?? ""), scratch.folder, { recursive: true });
  await store[Symbol.asyncDispose]();
  return openIn(scratch, {});
}

/** Another DLQ on what the file holds, once somebody has changed that. The store is closed. */
export async function changedCopyOf(
  store: DlqStore,
  change: (db: DatabaseSync) => void,
  options: Partial<FileDlqOptions> = {},
): Promise<ScratchDlq> {
  const scratch = scratchFolder();
  cpSync(dirname(PATHS.get(store) ?? ""), scratch.folder, { recursive: true });
  await store[Symbol.asyncDispose]();
  const db = new DatabaseSync(scratch.path);
  change(db);
  db.close();
  rmSync(`${scratch.path}-mark`, { force: true });
  return openIn(scratch, options);
}

/** The same DLQ, of which somebody has changed the file while it is open. */
export function changedWhileOpen(store: ScratchDlq, change: (db: DatabaseSync) => void): Promise<ScratchDlq> {
  using db = new DatabaseSync(PATHS.get(store) ?? "");
  change(db);
  return Promise.resolve(store);
}

function openIn(scratch: ReturnType<typeof scratchFolder>, options: Partial<FileDlqOptions>): ScratchDlq {
  const store = openDlq(scratch.path, options);
  const owning: ScratchDlq = {
    ...store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
  PATHS.set(owning, scratch.path);
  return owning;
}
