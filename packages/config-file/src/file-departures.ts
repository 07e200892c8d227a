import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { samePlaces } from "@bridge/config";
import type { ConfigDepartures, StorePlaces, StoredConfig } from "@bridge/ports";
import { departureFile, type DepartureFile, readDepartureFile } from "./departure-file.ts";
import { DepartureLock } from "./departure-lock.ts";
import { leavingsOf } from "./drafts.ts";
import type { FileAccess } from "./file-access.ts";
import { replaceFile, syncFolderOf } from "./replace-file.ts";

/** What one of the places beside the file has. */
interface Note {
  readonly path: string;
  readonly known: DepartureFile | "unreadable" | undefined;
}

type ReadNote = Note & { readonly known: DepartureFile };

/** Keeps former documents beside a file while their stores are being left, each with a lock by whoever leaves them. */
export class FileDepartures implements ConfigDepartures, Disposable {
  readonly #file: FileAccess;
  readonly #lock = new DepartureLock();
  /**
   * Which documents this process has remembered, or was about to, and where: nothing else there is replaced or forgotten
   * unasked.
   */
  readonly #own = new Set<string>();

  constructor(file: FileAccess) {
    this.#file = file;
  }

  async remember(former: StoredConfig, signal: AbortSignal, places: StorePlaces): Promise<void> {
    const { bytes, identity } = this.#file.contentOf(former);
    const notes = (await notesBeside(await this.#file.place(), signal)).filter(isRead);
    const there = notes.find(({ known }) => isOf(known, identity, places) && known.isWhole);
    // It is durable already, and nothing may be written here any more.
    if (there !== undefined && notes.every((note) => note === there || !this.#isOwn(note))) {
      this.#own.add(keyOf(there));
      this.#lock.hold(there.path);
      return;
    }
    await this.#alone(signal, async (target) => {
      const now = await notesBeside(target, signal);
      const path = this.#roomIn(now, identity, places);
      this.#own.add(keyOf({ path, known: { identity } }));
      await replaceFile(path, departureFile(bytes, identity, places), signal);
      this.#lock.hold(path);
      await removeAll(now.filter((note) => note.path !== path && this.#isOwn(note)));
      for (const key of this.#own) if (key !== keyOf({ path, known: { identity } })) this.#own.delete(key);
    });
  }

  async *find(signal: AbortSignal): AsyncGenerator<StoredConfig> {
    const failures: Error[] = [];
    for (const path of leavingsOf(await this.#file.place())) {
      try {
        const known = await readDepartureFile(path, signal);
        if (known !== undefined) yield await this.#former(known, signal);
      } catch (error) {
        signal.throwIfAborted();
        const why = error instanceof Error ? error.message : String(error);
        const remedy =
          "put the former document there again and restart, or look whether messages wait in stores that were left, and remove this file";
        failures.push(new Error(`${path}: ${why}: ${remedy}`, { cause: error }));
      }
    }
    if (failures[0] !== undefined) throw failures[0];
  }

  async forget(signal: AbortSignal, found?: StoredConfig): Promise<void> {
    if (found === undefined && this.#own.size === 0) return;
    const identity = found && this.#file.contentOf(found).identity;
    const dueAt = async (target: string): Promise<readonly Note[]> =>
      (await notesBeside(target, signal)).filter((note) =>
        identity === undefined ? this.#isOwn(note) : isRead(note) && isOf(note.known, identity, found?.places),
      );
    const isThere = (await dueAt(await this.#file.place())).length > 0;
    if (isThere) await this.#alone(signal, async (target) => removeAll(await dueAt(target)));
    if (found !== undefined) return;
    if (isThere) this.#own.clear();
    this[Symbol.dispose]();
  }

  async elsewhere(found: StoredConfig, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const { identity } = this.#file.contentOf(found);
    const notes = (await notesBeside(await this.#file.place(), signal)).filter(isRead);
    return notes.some(({ path, known }) => isOf(known, identity, found.places) && DepartureLock.isElsewhere(path));
  }

  /** What is remembered stays, for the next process. */
  [Symbol.dispose](): void {
    this.#lock[Symbol.dispose]();
  }

  async #former(known: DepartureFile, signal: AbortSignal): Promise<StoredConfig> {
    const { stored } = await this.#file.former(known.bytes, "what it holds", signal, known.places);
    // Nobody leaves the stores of a document that has none: what it held is gone.
    if (Object.keys(stored.document).length === 0) throw new Error("it is empty");
    if (!known.isWhole) throw new Error("it was changed after it was kept (if it is whole, remove its first line)");
    return stored;
  }

  #isOwn(note: Note): boolean {
    return isRead(note) && this.#own.has(keyOf(note));
  }

  /** Where a document goes. What is there may be all that says where messages wait. */
  #roomIn(notes: readonly Note[], identity: string, places: StorePlaces): string {
    const replaced = notes.find((note) => this.#isOwn(note) || (isRead(note) && isOf(note.known, identity, places)));
    const inTheWay = notes.find((note) => note !== replaced && !this.#isOwn(note) && mayBeOf(note, places));
    const room = replaced ?? notes.find(({ known }) => known === undefined);
    if (inTheWay === undefined && room !== undefined) return room.path;
    throw new Error(
      `${(inTheWay ?? notes.at(-1))?.path} may say which stores were being left before, and is not replaced: if another process runs on this file, it may have written it, and removes it when nothing waits there; if none does, restart, so that the document in it runs first; if it cannot be read, put the former document there again, or look whether messages wait in stores that were left, and remove it`,
    );
  }

  async #alone(signal: AbortSignal, work: (target: string) => Promise<void>): Promise<void> {
    await this.#file.alone(signal, work, async () => work(await this.#file.place()));
  }
}

async function notesBeside(target: string, signal: AbortSignal): Promise<readonly Note[]> {
  const noteAt = async (path: string): Promise<Note> => {
    try {
      return { path, known: await readDepartureFile(path, signal) };
    } catch {
      signal.throwIfAborted();
      return { path, known: "unreadable" };
    }
  };
  return Promise.all(leavingsOf(target).map(noteAt));
}

function isRead(note: Note): note is ReadNote {
  return note.known !== undefined && note.known !== "unreadable";
}

/** Whether it is of this document in these stores, as far as it says where they were. */
function isOf(known: DepartureFile, identity: string, places: StorePlaces | undefined): boolean {
  return known.identity === identity && samePlaces(known.places, places);
}

/** Whether it may be of a process with these stores. */
function mayBeOf({ known }: Note, places: StorePlaces): boolean {
  return known !== undefined && (known === "unreadable" || samePlaces(known.places, places));
}

function keyOf({ path, known }: { readonly path: string; readonly known: Pick<DepartureFile, "identity"> }): string {
  return `${known.identity} ${basename(path)}`;
}

async function removeAll(notes: readonly Note[]): Promise<void> {
  for (const { path } of notes) {
    await rm(path, { force: true });
    await syncFolderOf(path);
  }
}
