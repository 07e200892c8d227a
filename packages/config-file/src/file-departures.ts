import { rm } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { ConfigDepartures, StorePlaces, StoredConfig } from "@bridge/ports";
import { departureFile, type DepartureFile, readDepartureFile } from "./departure-file.ts";
import { DepartureLock } from "./departure-lock.ts";
import { leavingOf } from "./drafts.ts";
import type { FileAccess } from "./file-access.ts";
import { replaceFile, syncFolderOf } from "./replace-file.ts";

/** Keeps a former document beside a file while its stores are being left, with a lock by whoever leaves them. */
export class FileDepartures implements ConfigDepartures, Disposable {
  readonly #file: FileAccess;
  readonly #lock = new DepartureLock();
  /**
   * Which documents this process has remembered, or was about to: nothing else there is replaced or forgotten unasked.
   */
  readonly #own = new Set<string>();

  constructor(file: FileAccess) {
    this.#file = file;
  }

  async remember(former: StoredConfig, signal: AbortSignal, places: StorePlaces): Promise<void> {
    const { bytes, identity } = this.#file.contentOf(former);
    const place = await this.#file.place();
    const known = await readDepartureFile(leavingOf(place), signal).catch(() => undefined);
    // It is durable already, and nothing may be written here any more.
    if (known?.identity === identity && known.isWhole && isDeepStrictEqual({ ...known.places }, { ...places })) {
      this.#own.add(identity);
      this.#lock.hold(place);
      return;
    }
    await this.#alone(signal, async (target) => {
      const path = leavingOf(target);
      await this.#demandOwn(path, identity, signal);
      this.#own.add(identity);
      await replaceFile(path, departureFile(bytes, identity, places), signal);
      this.#lock.hold(target);
      for (const other of this.#own) if (other !== identity) this.#own.delete(other);
    });
  }

  async find(signal: AbortSignal): Promise<StoredConfig | undefined> {
    const path = leavingOf(await this.#file.place());
    try {
      const known = await readDepartureFile(path, signal);
      if (known === undefined) return undefined;
      const { stored } = await this.#file.former(known.bytes, "what it holds", signal, known.places);
      // Nobody leaves the stores of a document that has none: what it held is gone.
      if (Object.keys(stored.document).length === 0) throw new Error("it is empty");
      if (!known.isWhole) throw new Error("it was changed after it was kept (if it is whole, remove its first line)");
      return stored;
    } catch (error) {
      signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      const remedy =
        "put the former document there again and restart, or look whether messages wait in stores that were left, and remove this file";
      throw new Error(`${path}: ${why}: ${remedy}`, { cause: error });
    }
  }

  async forget(signal: AbortSignal, found?: StoredConfig): Promise<void> {
    const own: ReadonlySet<string> = found === undefined ? this.#own : new Set([this.#file.contentOf(found).identity]);
    if (own.size === 0) return;
    const isThere = async (target: string): Promise<boolean> => {
      const known = await readDepartureFile(leavingOf(target), signal);
      return known !== undefined && own.has(known.identity);
    };
    if (!(await isThere(await this.#file.place()))) {
      if (found === undefined) this[Symbol.dispose]();
      return;
    }
    await this.#alone(signal, async (target) => {
      if (!(await isThere(target))) return;
      const path = leavingOf(target);
      await rm(path, { force: true });
      await syncFolderOf(path);
      if (found !== undefined) return;
      this.#own.clear();
      this[Symbol.dispose]();
    });
  }

  async elsewhere(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    return DepartureLock.isElsewhere(await this.#file.place());
  }

  /** What is remembered stays, for the next process. */
  [Symbol.dispose](): void {
    this.#lock[Symbol.dispose]();
  }

  /** What is there may be all that says where messages wait. */
  async #demandOwn(path: string, identity: string, signal: AbortSignal): Promise<void> {
    let known: DepartureFile | "unreadable" | undefined;
    try {
      known = await readDepartureFile(path, signal);
    } catch {
      signal.throwIfAborted();
      known = "unreadable";
    }
    if (known === undefined) return;
    if (known !== "unreadable" && (known.identity === identity || this.#own.has(known.identity))) return;
    throw new Error(
      `${path} may say which stores were being left before, and is not replaced: if another process runs on this file, it may have written it, and removes it when nothing waits there; if none does, restart, so that the document in it runs first; if it cannot be read, put the former document there again, or look whether messages wait in stores that were left, and remove it`,
    );
  }

  async #alone(signal: AbortSignal, work: (target: string) => Promise<void>): Promise<void> {
    await this.#file.alone(signal, work, async () => work(await this.#file.place()));
  }
}
