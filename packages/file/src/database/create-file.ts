import { closeSync, renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { FileKind } from "./file-kind.ts";
import { syncFolder } from "./folder.ts";
import { clearMark } from "./log-mark.ts";
import { migrate } from "./migrate.ts";
import { openOwn } from "./own-file.ts";

/** Makes an empty file of its kind, for its owner only. A crash leaves a whole file or none. */
export function createFile(path: string, kind: FileKind): void {
  const draft = `${path}-new`;
  for (const leftover of [draft, `${draft}-journal`]) rmSync(leftover, { force: true });
  closeSync(openOwn(draft, "wx"));
  const db = new DatabaseSync(draft);
  try {
    migrate(db, kind);
  } finally {
    db.close();
  }
  clearMark(path);
  renameSync(draft, path);
  syncFolder(path);
}
