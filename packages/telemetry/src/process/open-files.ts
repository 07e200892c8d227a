import { readdir, readFile } from "node:fs/promises";

/** File descriptors of this process; the limit is `undefined` when there is none. */
export interface OpenFiles {
  readonly open: number;
  readonly max: number | undefined;
}

/** What Linux tells in `/proc`; `undefined` elsewhere. */
export async function openFiles(): Promise<OpenFiles | undefined> {
  try {
    const [descriptors, limits] = await Promise.all([
      readdir("/proc/self/fd"),
      readFile("/proc/self/limits", { encoding: "utf8" }),
    ]);
    const [, soft] = /^Max open files +(\d+) /m.exec(limits) ?? [];
    // One of them is the reading's own.
    return { open: descriptors.length - 1, max: soft === undefined ? undefined : Number(soft) };
  } catch {
    return undefined;
  }
}
