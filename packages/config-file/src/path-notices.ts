import { type FSWatcher, statSync, watch } from "node:fs";
import { basename } from "node:path";
import type { Logger } from "@bridge/ports";
import { placesOf } from "./places-of.ts";

interface Watcher {
  readonly watcher: FSWatcher;
  names: ReadonlySet<string>;
}

/**
 * Hears from the operating system when what a path leads to may have changed: the file, a link on the way, or a folder
 * that was missing. What cannot be heard of is logged once; whoever listens has to look now and then anyway.
 */
export class PathNotices implements Disposable {
  readonly #logger: Logger;
  /** By folder and inode: a folder that was made anew is another one. */
  #watchers = new Map<string, Watcher>();
  #next = Promise.withResolvers<void>();
  #deaf = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Resolves at the next notice after this call. */
  next(): Promise<void> {
    this.#next = Promise.withResolvers();
    return this.#next.promise;
  }

  /** Listens along the way to `path`, as it is now; `undefined` listens to nothing. */
  follow(path: string | undefined): void {
    // The way may change while the ears are put along it.
    for (let rounds = 0; rounds < 5; rounds++) {
      if (!this.#listenTo(path === undefined ? new Map() : placesOf(path))) return;
    }
  }

  [Symbol.dispose](): void {
    this.follow(undefined);
  }

  /** Whether that changed anything. */
  #listenTo(places: ReadonlyMap<string, ReadonlySet<string>>): boolean {
    const watchers = new Map<string, Watcher>();
    let changed = false;
    for (const [folder, names] of places) {
      const key = keyOf(folder);
      const former = this.#watchers.get(key);
      const watcher = former?.watcher ?? this.#listen(folder, key);
      changed ||= former === undefined;
      if (watcher !== undefined) watchers.set(key, { watcher, names });
    }
    for (const [key, { watcher }] of this.#watchers) if (!watchers.has(key)) watcher.close();
    this.#watchers = watchers;
    return changed && watchers.size > 0;
  }

  #listen(folder: string, key: string): FSWatcher | undefined {
    try {
      const watcher = watch(folder, (_event, name) => {
        const names = this.#watchers.get(key)?.names;
        // A folder that is moved or removed is named by its own name.
        if (name === null || names?.has(name) === true || name === basename(folder)) this.#next.resolve();
      });
      watcher.on("error", (error) => {
        watcher.close();
        this.#watchers.delete(key);
        this.#cannotListen(folder, error);
      });
      return watcher;
    } catch (error) {
      this.#cannotListen(folder, error);
      return undefined;
    }
  }

  #cannotListen(folder: string, error: unknown): void {
    if (this.#deaf || (error as NodeJS.ErrnoException).code === "ENOENT") return;
    this.#deaf = true;
    this.#logger.warn("changes of the configuration are not told by the system: they are noticed at poll_interval", {
      folder,
      error: error instanceof Error ? error.message : String(error),
    });
  }
}

function keyOf(folder: string): string {
  const ino = statSync(folder, { throwIfNoEntry: false })?.ino ?? 0;
  return `${ino} ${folder}`;
}
