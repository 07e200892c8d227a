import { realpath, rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { Path, Registry } from "@bridge/config";
import {
  type Clock,
  type ConfigChange,
  type ConfigDepartures,
  type ConfigHistory,
  type ConfigProbations,
  type ConfigStore,
  type ConfigTexts,
  type ConfigVersions,
  type Logger,
  silentLogger,
  type StoredConfig,
  systemClock,
} from "@bridge/ports";
import { Serial, steadyLogger } from "@bridge/ports/internal";
import { configHistory } from "./config-history.ts";
import { type Content, type ReadBytes, readContent, type StoredContent, storedContent } from "./content.ts";
import { draftsBeside, historyOf } from "./drafts.ts";
import { exclusively } from "./exclusively.ts";
import type { FileAccess } from "./file-access.ts";
import { FileDepartures } from "./file-departures.ts";
import { FileProbations } from "./file-probations.ts";
import { FileVersions } from "./file-versions.ts";
import { fileTexts, formatOf } from "./file-texts.ts";
import { checkValue, type LoadedConfig, type LoadOptions } from "./load-config-file.ts";
import { parseDocument } from "./parse-document.ts";
import { ifMissing, replaceFile } from "./replace-file.ts";
import { textOf } from "./text-of.ts";
import { TextThread } from "./text-thread.ts";
import { TextWork } from "./text-work.ts";
import type { Positions } from "./thread-protocol.ts";
import { type Watched, watchFile, type WatchSettings } from "./watch-file.ts";

export interface ConfigFileOptions {
  /** How to watch; asked for again and again, so that it may change. Default: the defaults of `config_watch`. */
  readonly watch?: () => WatchSettings;
  /** Default: says nothing. */
  readonly logger?: Logger;
  /** Default: the machine's time. */
  readonly clock?: Clock;
  /**
   * The file that a bundler has made of `@bridge/config-file/thread`: in it a text is read and edited from the second
   * time on. Default: `@bridge/config-file/thread`, which is found when nothing is bundled.
   */
  readonly threadUrl?: URL;
}

/** A configuration document in a file of YAML or JSON. */
export interface ConfigFile extends ConfigStore {
  readonly history: ConfigHistory;
  readonly texts: ConfigTexts;
  readonly versions: ConfigVersions;
  readonly departures: Required<ConfigDepartures>;
  readonly probations: ConfigProbations;
  /**
   * Resolves the references of what this store has loaded, written or told, and validates it; each problem has its
   * line. Rejects only with the signal's reason.
   */
  check(stored: StoredConfig, registry: Registry, options: LoadOptions): Promise<LoadedConfig>;
}

const DEFAULT_SETTINGS: WatchSettings = { mode: "notify", pollIntervalMs: 30_000, debounceMs: 100 };

/**
 * A store on the document at `path`. The file need not be there, nor its folder; nothing is opened or held.
 * @throws Error with the remedy when `threadUrl` is given and names no file
 */
export function openConfigFile(path: string, options: ConfigFileOptions = {}): ConfigFile {
  return new FileConfigStore(path, options);
}

class FileConfigStore implements ConfigFile {
  readonly source: string;
  readonly history: ConfigHistory;
  readonly texts: ConfigTexts;
  readonly versions: FileVersions;
  readonly departures: FileDepartures;
  readonly probations: FileProbations;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #settings: () => WatchSettings;
  /** Reading for a watch and writing take turns, so that no watch takes a write of ours for another's. */
  readonly #turns = new Serial();
  readonly #contents = new WeakMap<object, StoredContent>();
  readonly #text: TextWork;
  /** What the file held when it was last read or written. */
  #content: Content | undefined;
  /** What this store has last loaded, written or told: a watch tells what differs from it. */
  #seen: string | undefined;
  readonly #watches = new Set<Watched>();

  constructor(path: string, options: ConfigFileOptions) {
    this.source = path;
    this.#path = resolve(path);
    this.#clock = options.clock ?? systemClock;
    this.#logger = steadyLogger(options.logger ?? silentLogger);
    this.#text = new TextWork(this.#clock, this.#logger, new TextThread(this.#clock, options.threadUrl));
    this.#settings = options.watch ?? (() => DEFAULT_SETTINGS);
    const format = formatOf(path);
    const file = this.#access();
    this.history = configHistory(
      () => file.place().then(historyOf),
      (signal, write) => file.alone(signal, write, () => file.nowhere()),
    );
    this.texts = fileTexts({ format, work: this.#text, bytesOf: (stored) => this.#contentOf(stored).bytes });
    this.versions = new FileVersions(file, format, this.#logger);
    this.departures = new FileDepartures(file);
    this.probations = new FileProbations(file, (document, expected, signal, text, before) =>
      this.#write(document, expected, signal, text, before),
    );
  }

  get seen(): string | undefined {
    return this.#seen;
  }

  async load(signal: AbortSignal): Promise<StoredConfig | undefined> {
    const content = await this.#read(signal);
    this.#seen = content.identity;
    if (content.kind === "unreadable") throw content.error;
    return content.kind === "stored" ? content.stored : undefined;
  }

  write(
    document: Readonly<Record<string, unknown>>,
    expected: StoredConfig,
    signal: AbortSignal,
    text?: string,
  ): Promise<StoredConfig | undefined> {
    return this.#write(document, expected, signal, text);
  }

  #write(
    document: Readonly<Record<string, unknown>>,
    expected: StoredConfig,
    signal: AbortSignal,
    text: string | undefined,
    before: (target: string, former: StoredContent, next: StoredContent) => Promise<boolean> = async () => true,
  ): Promise<StoredConfig | undefined> {
    return this.#alone(
      signal,
      async (target) => {
        const content = await this.#read(signal);
        if (content.kind !== "stored" || content.identity !== expected.revision) return undefined;
        const next = { ...document, config_version: expected.version + 1 };
        const from = text === undefined ? content.bytes : Buffer.from(text);
        const { bytes, value } = await this.#text.edit(from, next, signal);
        const edited = storedContent(this.source, bytes, value);
        await this.versions.keep(target, content, signal);
        if (!(await before(target, content, edited))) return undefined;
        return (await this.#put(target, edited, expected.revision, signal)) ? edited.stored : undefined;
      },
      () => undefined,
    );
  }

  restore(former: StoredConfig, current: StoredConfig, signal: AbortSignal): Promise<boolean> {
    const content = this.#contentOf(former);
    return this.#alone(
      signal,
      async (target) => {
        if ((await this.#read(signal)).identity !== current.revision) return false;
        return this.#put(target, content, current.revision, signal);
      },
      () => false,
    );
  }

  watch(signal: AbortSignal): AsyncIterable<ConfigChange> {
    const watched: Watched = { seen: this.#seen };
    this.#watches.add(watched);
    // Who only reads leaves everything as it is.
    void this.#removeDrafts(signal);
    return watchFile({
      path: this.#path,
      watched,
      settings: this.#settings,
      clock: this.#clock,
      logger: this.#logger,
      read: () => this.#turns.run(() => this.#read(signal)),
      told: (identity) => void (this.#seen = identity),
      ended: () => void this.#watches.delete(watched),
      signal,
    });
  }

  async check(stored: StoredConfig, registry: Registry, options: LoadOptions): Promise<LoadedConfig> {
    const content = this.#contentOf(stored);
    const positionsOf = (paths: readonly Path[]): Promise<Positions> =>
      this.#text.locate(content.bytes, paths, options.signal);
    return checkValue({ file: this.source, value: content.value, positionsOf }, registry, options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.probations[Symbol.dispose]();
    this.departures[Symbol.dispose]();
    return this.#text[Symbol.asyncDispose]();
  }

  #access(): FileAccess {
    return {
      source: this.source,
      place: async () => (await this.#target()) ?? this.#path,
      alone: (signal, work, ifGone) => this.#alone(signal, work, ifGone),
      nowhere: () => {
        throw new Error(`${this.source} is not there: there is nothing to keep a history of`);
      },
      read: (signal) => this.#read(signal),
      contentOf: (stored) => this.#contentOf(stored),
      former: async (bytes, what, signal, places) => {
        const read = await this.#text.read(bytes, signal);
        if ("problems" in read) throw new Error(`${what} is no document`);
        const content = storedContent(this.source, bytes, read.value, undefined, places);
        this.#contents.set(content.stored, content);
        return content;
      },
    };
  }

  async #read(signal: AbortSignal): Promise<Content> {
    // Nobody is served yet when the first content is read.
    const read: ReadBytes =
      this.#content === undefined ? (bytes) => parseDocument(textOf(bytes)) : (bytes) => this.#text.read(bytes, signal);
    return this.#known(await readContent(this.#path, this.source, this.#content, read, signal));
  }

  #contentOf(stored: object): StoredContent {
    const content = this.#contents.get(stored);
    if (content === undefined) throw new TypeError("this document does not come from this store");
    return content;
  }

  #known(content: Content): Content {
    this.#content = content;
    if (content.kind === "stored") this.#contents.set(content.stored, content);
    return content;
  }

  /**
   * Writes what the watches of this store are not to tell, unless the file holds something else than `expected` by
   * then.
   */
  async #put(target: string, content: StoredContent, expected: string, signal: AbortSignal): Promise<boolean> {
    const may = async (): Promise<boolean> => (await this.#read(signal)).identity === expected;
    if (!(await replaceFile(target, content.bytes, signal, may))) return false;
    this.#known(content);
    this.#seen = content.identity;
    for (const watched of this.#watches) watched.seen = content.identity;
    return true;
  }

  /**
   * What a writer that was killed has left: the next write would remove it, and may be long in coming. Never rejects.
   */
  async #removeDrafts(signal: AbortSignal): Promise<void> {
    try {
      const target = await this.#target();
      if (target === undefined || draftsBeside(target).length === 0) return;
      // Those of a writer that is at work are gone by then.
      await this.#alone(
        signal,
        async (place) => void (await Promise.all(draftsBeside(place).map((draft) => rm(draft, { force: true })))),
        () => {},
      );
    } catch {
      // They are in nobody's way, and the next write says why it cannot.
    }
  }

  /** The file that is meant, behind all links; `undefined` when it is not there. */
  #target(): Promise<string | undefined> {
    return realpath(this.#path).catch(ifMissing(undefined));
  }

  #alone<T, U>(signal: AbortSignal, write: (target: string) => Promise<T>, ifGone: () => U): Promise<T | U> {
    return this.#turns.run(async () => {
      signal.throwIfAborted();
      const target = await this.#target();
      if (target === undefined) return ifGone();
      return exclusively(target, { clock: this.#clock, signal }, () => write(target));
    });
  }
}
