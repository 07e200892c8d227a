import {
  type BridgeConfig,
  checkDocument,
  formatProblem,
  type Problem,
  type ReferenceSources,
  type Registry,
  type UnusableFile,
} from "@bridge/config";
import {
  type ConfigFileOptions,
  formatLocatedProblem,
  loadConfigFile,
  type LoadedConfig,
  type LoadOptions,
  openConfigFile,
  referenceSources,
} from "@bridge/config-file";
import type { ConfigStore, StoredConfig } from "@bridge/ports";
import { messageOf } from "./message-of.ts";

/** What became of a document, in lines for people; none of them quotes a secret. */
export type CheckedConfig =
  | { readonly ok: true; readonly config: BridgeConfig; readonly warnings: readonly string[] }
  | {
      readonly ok: false;
      readonly problems: readonly string[];
      readonly warnings: readonly string[];
      /** Whether something that it refers to could not be read, which may be there in a moment. */
      readonly unread: boolean;
    };

/** Where a process takes its configuration from, and how it reads what is there. */
export interface ConfigOrigin {
  readonly store: ConfigStore;
  /** Where the values of the document's references come from. */
  readonly sources: ReferenceSources;
  /** What an operator reads when there is none: `there is no such file`. */
  readonly whenMissing: string;
  /** Resolves and validates what the store has loaded, written or told. Rejects only with the signal's reason. */
  check(stored: StoredConfig, registry: Registry, signal: AbortSignal): Promise<CheckedConfig>;
  /**
   * Reads and checks what is there now, and the files that it names if it is told how, each problem in a line of its
   * own. Rejects only with the signal's reason.
   */
  read(registry: Registry, signal: AbortSignal, whyUnusable?: UnusableFile): Promise<CheckedConfig | "missing">;
}

export interface FileOriginOptions extends ConfigFileOptions, Pick<LoadOptions, "env" | "references" | "servers"> {}

/** A file of YAML or JSON; each problem has its line. */
export function fileOrigin(path: string, options: FileOriginOptions): ConfigOrigin {
  const { env, references, servers, ...watching } = options;
  const store = openConfigFile(path, watching);
  return {
    store,
    sources: referenceSources(path, env, references, servers),
    whenMissing: "there is no such file",
    check: async (stored, registry, signal) =>
      lines(await store.check(stored, registry, { env, references, servers, signal })),
    read: async (registry, signal, whyUnusable) => {
      const loaded = await loadConfigFile(path, registry, { env, references, servers, whyUnusable, signal });
      return loaded === "missing" ? loaded : lines(loaded);
    },
  };
}

/** Any other store, such as a table that several instances share. */
export function storeOrigin(store: ConfigStore, sources: ReferenceSources): ConfigOrigin {
  const told = (problem: Problem): string => `${store.source} ${formatProblem(problem)}`;
  const checkWith = async (
    { document }: StoredConfig,
    registry: Registry,
    signal: AbortSignal,
    whyUnusable?: UnusableFile,
  ): Promise<CheckedConfig> => {
    const checked = await checkDocument(document, registry, { ...sources, whyUnusable }, signal);
    const warnings = checked.warnings.map(told);
    return checked.ok
      ? { ok: true, config: checked.config, warnings }
      : { ok: false, problems: checked.problems.map(told), warnings, unread: checked.unread };
  };
  return {
    store,
    sources,
    whenMissing: "there is no configuration there",
    check: (stored, registry, signal) => checkWith(stored, registry, signal),
    read: async (registry, signal, whyUnusable) => {
      try {
        const stored = await store.load(signal);
        return stored === undefined ? "missing" : await checkWith(stored, registry, signal, whyUnusable);
      } catch (error) {
        signal.throwIfAborted();
        return { ok: false, problems: [messageOf(error)], warnings: [], unread: true };
      }
    },
  };
}

function lines(loaded: LoadedConfig): CheckedConfig {
  const warnings = loaded.warnings.map(formatLocatedProblem);
  return loaded.ok
    ? { ok: true, config: loaded.config, warnings }
    : { ok: false, problems: loaded.problems.map(formatLocatedProblem), warnings, unread: loaded.unread };
}
