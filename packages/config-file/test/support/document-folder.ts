import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settleProbation } from "@bridge/config";
import { type Logger, type Probation, silentLogger, type StoredConfig, systemClock } from "@bridge/ports";
import { afterEach, beforeEach } from "vitest";
import { type ConfigFile, openConfigFile } from "../../src/index.ts";
import { storesOf } from "./file-stores.ts";

const NEVER = new AbortController().signal;

/** A document of version 41 in a folder that is another one in each test, and the processes that come and go on it. */
export interface DocumentFolder {
  readonly path: string;
  readonly folder: string;
  /** Where it is noted that something is on probation. */
  readonly note: string;
  /** What it says, but for what was added to it. */
  noted(): { readonly former: { readonly bytes: string }; readonly tried: string };
  readonly probation: Probation;
  /** A process tries `document` out as version 42, and goes on. */
  begun(document?: Readonly<Record<string, unknown>>): Promise<Begun>;
  /** One does, and is killed; resolves to what it has stored. */
  killed(document?: Readonly<Record<string, unknown>>): Promise<string>;
  /** What the next process finds, and makes of it; its store is open. */
  start(options?: StartOptions): Promise<Start>;
}

interface Begun {
  readonly store: ConfigFile;
  readonly stored: StoredConfig;
  readonly written: StoredConfig;
}

interface StartOptions {
  readonly store?: ConfigFile;
  /** Whether a document is one that can be run. Default: each is. */
  readonly runs?: (stored: StoredConfig) => boolean;
}

interface Start extends Pick<Awaited<ReturnType<typeof settleProbation>>, "settled"> {
  readonly store: ConfigFile;
  readonly stored: StoredConfig | undefined;
  /** Warnings and errors, as JSON. */
  readonly logged: readonly string[];
  readonly history: Awaited<ReturnType<ConfigFile["history"]["list"]>>;
}

const MENDED = { bridge: { id: "plant-8" } };

/** To be called where tests are registered. */
export function documentFolder(text: string): DocumentFolder {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "bridge-document-"));
    writeFileSync(join(folder, "bridge.yaml"), text);
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const probation: Probation = { version: 42, formerVersion: 41, confirmBy: 0, actor: "alice", routes: [] };
  const path = (): string => join(folder, "bridge.yaml");
  const begun = async (document: Readonly<Record<string, unknown>> = MENDED): Promise<Begun> => {
    const store = openConfigFile(path());
    const stored = await store.load(NEVER);
    if (stored === undefined) throw new Error("there is nothing");
    await store.history.append({ version: 42, committedAt: 1, actor: "alice", changes: [], pending: true }, NEVER);
    const written = await store.probations.begin(document, stored, probation, NEVER);
    if (written === undefined) throw new Error("it was not begun");
    return { store, stored, written };
  };
  return {
    get path() {
      return path();
    },
    get folder() {
      return folder;
    },
    get note() {
      return `${path()}.probation`;
    },
    noted() {
      const [first = ""] = readFileSync(this.note, "utf8").split("\n");
      return JSON.parse(first) as ReturnType<DocumentFolder["noted"]>;
    },
    probation,
    begun,
    async killed(document) {
      const { store } = await begun(document);
      await store[Symbol.asyncDispose]();
      return readFileSync(path(), "utf8");
    },
    async start({ store = openConfigFile(path()), runs = () => true } = {}) {
      const logged: string[] = [];
      const log = (...line: unknown[]): void => void logged.push(JSON.stringify(line));
      const logger: Logger = { ...silentLogger, warn: log, error: log };
      const read = async (instead?: StoredConfig): Promise<StoredConfig | undefined> => {
        const stored = instead ?? (await store.load(NEVER).catch(() => undefined));
        return stored !== undefined && runs(stored) ? stored : undefined;
      };
      const { settled, configuration } = await settleProbation(store, { clock: systemClock, logger, storesOf }, read);
      return { store, settled, stored: configuration, logged, history: await store.history.list(NEVER) };
    },
  };
}
