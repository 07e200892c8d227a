import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { smallDisk } from "@bridge/tooling/faulty-disk";
import type { AwayStore } from "./away-store.ts";
import type { Folder } from "./folder.ts";

/** An outbox in a file, on a small disk of its own. */
export function fileOutbox(bridge: Folder): AwayStore {
  const disk = smallDisk(4_096);
  const folder = join(disk.folder, "store");
  mkdirSync(folder);
  const path = join(folder, "outbox.db");
  const ballast = join(disk.folder, "ballast");
  let moved = false;
  return {
    block: `{type: file, options: {path: "${path}"}}`,
    run: () => bridge.run(),
    async begin(trouble) {
      moved = trouble === "is moved away";
      if (moved) renameSync(path, `${path}-elsewhere`);
      else fill(ballast);
    },
    async end() {
      if (moved) renameSync(`${path}-elsewhere`, path);
      else rmSync(ballast);
    },
    async [Symbol.asyncDispose]() {
      disk[Symbol.dispose]();
    },
  };
}

/** Until the disk has not a page left. */
function fill(ballast: string): void {
  try {
    writeFileSync(ballast, Buffer.alloc(8 * 1024 * 1024));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return;
    throw error;
  }
  throw new Error("the disk is larger than it should be");
}
