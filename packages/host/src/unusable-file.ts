import { accessSync, constants, statSync } from "node:fs";
import type { FileFault, FileNamed } from "@bridge/config";
import { obstacleAt } from "@bridge/file/internal";
import { unusablePem } from "./unusable-pem.ts";

/**
 * What keeps a process of this user from using a file as it would at `now`, with the remedy; `undefined` when nothing
 * is seen to. `waits` says that a start goes on when that may pass by itself. Reads PEM files, and makes none.
 */
export function whyUnusable(file: Omit<FileNamed, "place">, now: number, waits: boolean): FileFault | undefined {
  const { path, use, pem } = file;
  if (use === "kept") return whyUnkept(path, waits);
  const remedy = "name a file that this user can read";
  const why = whyUnreadable(path);
  if (why !== undefined) return { kind: "problem", words: `${why}: ${remedy}` };
  if (pem === undefined) return undefined;
  try {
    return unusablePem(path, pem, now);
  } catch {
    return { kind: "problem", words: `cannot be read: ${remedy}` };
  }
}

/** In the words of a start. */
function whyUnkept(path: string, waits: boolean): FileFault | undefined {
  const obstacle = obstacleAt(path);
  return obstacle && { kind: waits && obstacle.passes ? "warning" : "problem", words: obstacle.words };
}

function whyUnreadable(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return "is no file";
    accessSync(path, constants.R_OK);
    return undefined;
  } catch (error) {
    return WORDS[codeOf(error)] ?? "cannot be read";
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "is not there",
  ENOTDIR: "is not there",
  ENAMETOOLONG: "has a longer name than this file system takes",
  ELOOP: "is a link that leads in a circle",
};

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
