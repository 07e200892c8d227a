import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const DIGITS = 16;

/** What a full file is called: by the number of its last record, so that names sort as records do. */
export function rotatedName(path: string, lastSeq: number): string {
  return `${path}.${String(lastSeq).padStart(DIGITS, "0")}`;
}

/** The full files beside the current one, oldest first. */
export async function rotatedFiles(path: string): Promise<readonly string[]> {
  const prefix = `${basename(path)}.`;
  const names = await readdir(dirname(path));
  return names
    .filter((name) => name.startsWith(prefix) && /^\d{16}$/.test(name.slice(prefix.length)))
    .toSorted()
    .map((name) => join(dirname(path), name));
}

/** Deletes the oldest full files beyond `keep`. */
export async function deleteBeyond(path: string, keep: number): Promise<void> {
  const files = await rotatedFiles(path);
  for (const file of files.slice(0, Math.max(0, files.length - keep))) await rm(file, { force: true });
}
