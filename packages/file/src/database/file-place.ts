import { statSync } from "node:fs";

/** What is no longer where it was opened: the file itself (or its lock), or only its log; `hidden` when nobody may look. */
export type Displaced = "file" | "log" | "hidden";

const PARTS = [
  ["", "file"],
  ["-lock", "file"],
  ["-wal", "log"],
] as const satisfies readonly (readonly [string, Displaced])[];
/** Where what is confirmed lies. */
const WRITTEN = PARTS.filter(([part]) => part === "" || part === "-wal");

/**
 * Which files an open one consists of. Who deletes one of them, or puts another in its place, leaves the process writing
 * to a file without a name: that works, and everything is gone when it ends.
 */
export class FilePlace {
  readonly #path: string;
  readonly #opened: ReadonlyMap<string, Identity | undefined>;

  constructor(path: string) {
    this.#path = path;
    this.#opened = new Map(PARTS.map(([part]) => [part, identityOf(path + part)]));
  }

  /** Of those that are written to, or of all. */
  displaced(which: "written" | "all"): Displaced | undefined {
    for (const [part, displaced] of which === "all" ? PARTS : WRITTEN) {
      try {
        if (!this.#isIn(part, identityOf(this.#path + part))) return displaced;
      } catch {
        return "hidden";
      }
    }
    return undefined;
  }

  /** Whether this part is where it was opened, or else at `path`. */
  has(part: string, path = this.#path + part): boolean {
    try {
      return this.#isIn(part, identityOf(path));
    } catch {
      return false;
    }
  }

  #isIn(part: string, there: Identity | undefined): boolean {
    const opened = this.#opened.get(part);
    return there !== undefined && there.dev === opened?.dev && there.ino === opened.ino;
  }
}

interface Identity {
  readonly dev: number;
  readonly ino: number;
}

/** `undefined` when nothing is there, or a disk does not say. Throws when this user may not look. */
function identityOf(path: string): Identity | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EACCES") throw error;
    return undefined;
  }
}
