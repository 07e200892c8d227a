import { closeSync, existsSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { FileFault } from "./file-fault.ts";
import { openOwn } from "./own-file.ts";

/** What is set aside of one file: itself, or only its log when it was gone. */
const PARTS = ["", "-wal", "-mark"];
const ACKNOWLEDGED = ".acknowledged";
/** Nothing that anybody would look into. */
const IS_BESIDE = /(?:-mark|\.acknowledged)$/;

/**
 * The damaged files that were set aside beside a file. Each is something that an operator has to look into, until it is
 * moved away or acknowledged, which a marker beside it says: so that it lasts, whoever restarts what.
 */
export class DamagedFiles {
  readonly #path: string;
  #unacknowledged: readonly string[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** Cheap while there is none: those that are known are looked for again. */
  get unacknowledged(): readonly string[] {
    if (this.#unacknowledged.length > 0) this.look();
    return this.#unacknowledged;
  }

  /** Sets the file aside, with its log or only that, under a name that says when. Returns the new path. */
  setAside(now: number, parts: readonly string[] = PARTS): string {
    const aside = `${this.#path}.damaged-${new Date(now).toISOString().replaceAll(/[-:.]/g, "")}`;
    for (const part of parts) {
      try {
        renameSync(this.#path + part, aside + part);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
    return aside;
  }

  /** Puts a log back that was set aside as `aside`, unless there is another one in its place. */
  putBackLog(aside: string): void {
    const log = `${this.#path}-wal`;
    if (existsSync(log)) return;
    renameSync(`${aside}-wal`, log);
  }

  /** Looks into the folder: for what was set aside now or in an earlier process, and for what is gone. */
  look(): void {
    const folder = dirname(this.#path);
    const prefix = `${basename(this.#path)}.damaged-`;
    let names: readonly string[];
    try {
      names = readdirSync(folder);
    } catch {
      // A folder that cannot be read says nothing new.
      return;
    }
    const aside = names.filter((name) => name.startsWith(prefix) && !IS_BESIDE.test(name));
    const files = new Set(aside.map((name) => join(folder, name.replace(/-wal$/, ""))));
    this.#unacknowledged = [...files].filter((file) => !existsSync(file + ACKNOWLEDGED)).toSorted();
  }

  /** Throws a {@link FileFault} when the disk takes no marker; what has one already counts. */
  acknowledge(): readonly string[] {
    this.look();
    const files = this.#unacknowledged;
    try {
      for (const file of files) closeSync(openOwn(file + ACKNOWLEDGED, "a"));
    } catch (error) {
      throw FileFault.of(this.#path, error) ?? error;
    }
    return files;
  }
}
