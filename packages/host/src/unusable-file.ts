import { accessSync, constants, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { FileFault, FileNamed } from "@bridge/config";
import { unusablePem } from "./unusable-pem.ts";

/** Kernels show what they know there and keep nothing. */
const KERNEL_FILES: ReadonlySet<number> = new Set([0x9fa0, 0x62656572]);
/** The longest name that is made beside a file that is kept. */
const BESIDE = "-new-journal";

/**
 * What keeps a process of this user from using a file as it would at `now`, with the remedy; `undefined` when nothing is seen to.
 * Reads PEM files, and makes none.
 */
export function whyUnusable(file: Omit<FileNamed, "place">, now: number): FileFault | undefined {
  const { path, use, pem } = file;
  const why = use === "read" ? whyUnreadable(path) : whyUnkept(resolve(path));
  const remedy =
    use === "read" ? "name a file that this user can read" : "name a file, which is made when it is missing";
  if (why !== undefined) return { kind: "problem", words: `${why}: ${remedy}` };
  if (pem === undefined) return undefined;
  try {
    return unusablePem(path, pem, now);
  } catch {
    return { kind: "problem", words: `cannot be read: ${remedy}` };
  }
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

function whyUnkept(path: string): string | undefined {
  try {
    const kind = statSync(path, { throwIfNoEntry: false });
    if (kind === undefined) return whyUnmade(path);
    if (!kind.isFile()) return kind.isDirectory() ? "is a folder" : "is no regular file";
    accessSync(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    return code === "ENOTDIR" ? whyUnmade(path) : (WORDS[code] ?? "cannot be written");
  }
}

/** Folders are made as far as they are missing. */
function whyUnmade(path: string): string | undefined {
  statSync(path + BESIDE, { throwIfNoEntry: false });
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const kind = lookAt(folder);
    if (kind === undefined) continue;
    const named = JSON.stringify(folder);
    if (!kind.isDirectory()) return `lies below ${named}, which is no folder`;
    if (KERNEL_FILES.has(statfsSync(folder).type)) return `lies in ${named}, where nothing can be kept`;
    try {
      accessSync(folder, constants.W_OK | constants.X_OK);
      return undefined;
    } catch {
      return `lies in ${named}, where this user can make no file`;
    }
  }
}

function lookAt(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Something above it is no folder.
    if (codeOf(error) === "ENOTDIR") return undefined;
    throw error;
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
