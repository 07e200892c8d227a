import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FileKind } from "./file-kind.ts";
import { migrate } from "./migrate.ts";

/** Makes the folder that is to hold `path`, for its owner only, unless it is there. */
export function makeFolder(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
}

/** Makes an empty file of its kind, for its owner only. A crash leaves a whole file or none. */
export function createFile(path: string, kind: FileKind): void {
  const draft = `${path}-new`;
  for (const leftover of [draft, `${draft}-journal`]) rmSync(leftover, { force: true });
  closeSync(openSync(draft, "wx", 0o600));
  chmodSync(draft, 0o600);
  const db = new DatabaseSync(draft);
  try {
    migrate(db, kind);
  } finally {
    db.close();
  }
  renameSync(draft, path);
  syncFolder(dirname(path));
}

/** Makes the names in a folder durable. Windows cannot, and need not. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
