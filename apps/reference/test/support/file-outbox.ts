import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fill, immutable, thinDisk } from "@bridge/tooling/faulty-disk";
import type { AwayStore, Trouble } from "./away-store.ts";
import type { Folder } from "./folder.ts";

/** An outbox in a file, on a small disk of its own. */
export function fileOutbox(bridge: Folder): AwayStore {
  const disk = thinDisk();
  const folder = join(disk.folder, "store");
  mkdirSync(folder);
  const path = join(folder, "outbox.db");
  const ballast = join(disk.folder, "ballast");
  const begin = {
    "is moved away": () => (renameSync(path, `${path}-elsewhere`), () => renameSync(`${path}-elsewhere`, path)),
    "has a full disk": () => (fill(ballast), () => rmSync(ballast)),
    "fails in its sync": () => (disk.drain(), () => disk.refill()),
    "may not be written to": () => {
      const files = readdirSync(folder).map((name) => join(folder, name));
      const made = immutable([...files, folder]);
      return () => made[Symbol.dispose]();
    },
  };
  let end = (): void => {};
  return {
    block: `{type: file, options: {path: "${path}"}}`,
    run: () => bridge.run(),
    async begin(trouble) {
      end = begin[known(trouble)]();
    },
    async end() {
      const over = end;
      end = () => {};
      over();
    },
    async [Symbol.asyncDispose]() {
      end();
      disk[Symbol.dispose]();
    },
  };

  function known(trouble: Trouble): keyof typeof begin {
    if (trouble in begin) return trouble as keyof typeof begin;
    throw new Error(`a file never ${trouble}`);
  }
}
