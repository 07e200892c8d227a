import { readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { samePlaces } from "@bridge/config";
import type {
  ConfigLeftVersions,
  ConfigText,
  LeftStore,
  LeftVersion,
  Logger,
  StorePlaces,
  StoredConfig,
} from "@bridge/ports";
import { MAX_FILE_BYTES } from "./content.ts";
import { versionsOf } from "./drafts.ts";
import type { FileAccess } from "./file-access.ts";
import { type LeftName, leftIn, leftNameOf, markOf, putVersion, revertedNameOf } from "./kept-names.ts";
import { MissingFileError, readBytes } from "./read-text.ts";
import { ifMissing, syncFolderOf } from "./replace-file.ts";

/** So many of the newest are read: of older ones it is only said that they are there. */
const READ = 20;
/** So many there are at most. */
const KEPT = 200;

const UNREAD = { unreadable: `it is not among the newest ${READ}, which are read` };

/**
 * Former documents of a file that have left something in their stores: which is said by the name of each, so that it
 * takes no room.
 */
export class FileLeftVersions implements ConfigLeftVersions {
  readonly #file: FileAccess;
  readonly #format: ConfigText["format"];
  readonly #logger: Logger;

  constructor(file: FileAccess, format: ConfigText["format"], logger: Logger) {
    this.#file = file;
    this.#format = format;
    this.#logger = logger;
  }

  async list(signal: AbortSignal): Promise<readonly LeftVersion[]> {
    const folder = versionsOf(await this.#file.place());
    const listed: LeftVersion[] = [];
    for (const [at, { version, stores, places, name, mark }] of (await namesIn(folder)).entries()) {
      const kept = at < READ ? await this.#keptAt(join(folder, name), mark, signal) : UNREAD;
      if (kept !== undefined) listed.push({ version, stores, places, where: join(basename(folder), name), kept });
    }
    return listed;
  }

  async keep(left: StoredConfig, stores: readonly LeftStore[], signal: AbortSignal): Promise<void> {
    const { bytes } = this.#file.contentOf(left);
    const mark = markOf(bytes);
    const { places = {} } = left;
    await this.#alone(signal, async (folder) => {
      const same = (await namesIn(folder)).filter(
        (other) => other.version === left.version && other.mark === mark && samePlaces(other.places, places),
      );
      const all = new Set([...same.flatMap((other) => other.stores), ...stores]);
      const merged = Object.assign({}, ...same.map((other) => other.places), places) as StorePlaces;
      const name = leftNameOf({ version: left.version, stores: [...all], places: merged, mark, format: this.#format });
      await putVersion(folder, name, bytes, signal);
      const replaced = same.filter((other) => other.name !== name);
      const others = (await namesIn(folder)).filter((each) => replaced.every((other) => other.name !== each.name));
      const old = others.slice(KEPT);
      for (const gone of old)
        this.#logger.warn("what a former version has left in its stores is told no more: too many newer ones have", {
          config_version: gone.version,
          left_stores: gone.stores.join(", "),
        });
      await Promise.all([...replaced, ...old].map((gone) => rm(join(folder, gone.name), { force: true })));
    });
  }

  async narrow({ where }: LeftVersion, stores: readonly LeftStore[], signal: AbortSignal): Promise<void> {
    await this.#alone(signal, async (folder) => {
      const is = (await namesIn(folder)).find(({ name }) => name === basename(where));
      if (is === undefined) return;
      const next = stores.length === 0 ? revertedNameOf(is) : leftNameOf({ ...is, stores });
      await rename(join(folder, is.name), join(folder, next));
      await syncFolderOf(join(folder, next));
    });
  }

  /** `undefined` when somebody has taken it away meanwhile. */
  async #keptAt(path: string, mark: string, signal: AbortSignal): Promise<LeftVersion["kept"] | undefined> {
    try {
      const bytes = await readBytes(path, MAX_FILE_BYTES, signal);
      const { stored } = await this.#file.former(bytes, "what it holds", signal);
      return { stored, ...(markOf(bytes) !== mark && { changed: true }) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MissingFileError) return undefined;
      return { unreadable: error instanceof Error ? error.message : String(error) };
    }
  }

  async #alone(signal: AbortSignal, work: (folder: string) => Promise<void>): Promise<void> {
    const within = (target: string): Promise<void> => work(versionsOf(target));
    await this.#file.alone(signal, within, async () => within(await this.#file.place()));
  }
}

async function namesIn(folder: string): Promise<readonly LeftName[]> {
  return leftIn(await readdir(folder).catch(ifMissing<string[]>([])));
}
