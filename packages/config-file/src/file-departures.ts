import { access, rm } from "node:fs/promises";
import type { ConfigDepartures, StoredConfig } from "@bridge/ports";
import { MAX_FILE_BYTES } from "./content.ts";
import { leavingOf } from "./drafts.ts";
import type { FileAccess } from "./file-access.ts";
import { MissingFileError, readBytes } from "./read-text.ts";
import { replaceFile, syncFolderOf } from "./replace-file.ts";

/** Keeps a former document beside a file, as it was written, while its stores are being left. */
export class FileDepartures implements ConfigDepartures {
  readonly #file: FileAccess;

  constructor(file: FileAccess) {
    this.#file = file;
  }

  async remember(former: StoredConfig, signal: AbortSignal): Promise<void> {
    const { bytes } = this.#file.contentOf(former);
    const known = await bytesAt(leavingOf(await this.#file.place()), signal).catch(() => undefined);
    // It is durable already, and nothing may be written here any more.
    if (known !== undefined && Buffer.from(bytes).equals(known)) return;
    await this.#alone(signal, async (target) => void (await replaceFile(leavingOf(target), bytes, signal)));
  }

  async find(signal: AbortSignal): Promise<StoredConfig | undefined> {
    const path = leavingOf(await this.#file.place());
    try {
      const bytes = await bytesAt(path, signal);
      if (bytes === undefined) return undefined;
      const { stored } = await this.#file.former(bytes, "what it holds", signal);
      // Nobody leaves the stores of a document that has none: what it held is gone.
      if (Object.keys(stored.document).length === 0) throw new Error("it is empty");
      return stored;
    } catch (error) {
      signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      const remedy =
        "put the former document there again and restart, or look whether messages wait in stores that were left, and remove this file";
      throw new Error(`${path}: ${why}: ${remedy}`, { cause: error });
    }
  }

  async forget(signal: AbortSignal): Promise<void> {
    const isThere = await access(leavingOf(await this.#file.place())).then(
      () => true,
      () => false,
    );
    if (!isThere) return;
    await this.#alone(signal, async (target) => {
      const path = leavingOf(target);
      await rm(path, { force: true });
      await syncFolderOf(path);
    });
  }

  async #alone(signal: AbortSignal, work: (target: string) => Promise<void>): Promise<void> {
    await this.#file.alone(signal, work, async () => work(await this.#file.place()));
  }
}

/** `undefined` when there is no such file. */
function bytesAt(path: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
  return readBytes(path, MAX_FILE_BYTES, signal).catch((error: unknown) => {
    if (error instanceof MissingFileError) return undefined;
    throw error;
  });
}
