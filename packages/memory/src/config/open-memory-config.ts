import {
  type ConfigChange,
  type ConfigHistory,
  type ConfigStaging,
  type ConfigStore,
  type ConfigVersions,
  ReadOnlyConfigError,
  type StoredConfig,
} from "@bridge/ports";
import { jsonConfigTexts } from "@bridge/ports/internal";
import type { DocumentState, MemoryDocument } from "./memory-document.ts";

export interface MemoryConfigOptions {
  /** For people, as in `config_watch.source`. Default: `memory`. */
  readonly source?: string;
  /** Default: false. */
  readonly readOnly?: boolean;
}

/** A store on a document in memory; several may share one. Nothing is kept beyond the process. */
export function openMemoryConfig(held: MemoryDocument, options: MemoryConfigOptions = {}): ConfigStore {
  return new MemoryConfigStore(held, options);
}

class MemoryConfigStore implements ConfigStore {
  readonly source: string;
  readonly history: ConfigHistory;
  readonly texts = jsonConfigTexts;
  readonly versions: ConfigVersions;
  readonly staging: ConfigStaging;
  readonly #held: MemoryDocument;
  readonly #readOnly: boolean;
  /** What this store has last loaded, written or told: a watch tells what differs from it. */
  #seen: DocumentState | undefined;
  readonly #watches = new Set<{ seen: DocumentState }>();

  constructor(held: MemoryDocument, { source = "memory", readOnly = false }: MemoryConfigOptions) {
    this.source = source;
    this.#held = held;
    this.#readOnly = readOnly;
    this.history = {
      async append(entry, signal) {
        signal.throwIfAborted();
        held.append(entry);
      },
      async list(signal) {
        signal.throwIfAborted();
        return structuredClone(held.history);
      },
    };
    this.versions = {
      async list(signal) {
        signal.throwIfAborted();
        return held.kept.map(({ version }) => version);
      },
      async load(version, signal) {
        signal.throwIfAborted();
        return held.kept.find((kept) => kept.version === version);
      },
      async keepReverted(reverted, signal) {
        signal.throwIfAborted();
        held.keep(reverted);
      },
    };
    this.staging = this.#staging();
  }

  get seen(): string | undefined {
    const state = this.#seen;
    if (state?.kind === "changed") return `revision ${state.stored.revision}`;
    return state?.kind === "unreadable" ? `unreadable: ${state.error.message}` : state?.kind;
  }

  async load(signal: AbortSignal): Promise<StoredConfig | undefined> {
    signal.throwIfAborted();
    const state = (this.#seen = this.#held.state);
    if (state.kind === "unreadable") throw state.error;
    return state.kind === "changed" ? state.stored : undefined;
  }

  async write(
    document: Readonly<Record<string, unknown>>,
    expected: StoredConfig,
    signal: AbortSignal,
  ): Promise<StoredConfig | undefined> {
    signal.throwIfAborted();
    this.#demandWritable();
    return this.#holds(expected) ? this.#own(() => this.#held.write(document, expected.version + 1)) : undefined;
  }

  async restore(former: StoredConfig, current: StoredConfig, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    this.#demandWritable();
    if (!this.#holds(current)) return false;
    this.#own(() => this.#held.restore(former));
    return true;
  }

  watch(signal: AbortSignal): AsyncIterable<ConfigChange> {
    return this.#changes({ seen: this.#seen ?? this.#held.state }, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #staging(): ConfigStaging {
    const held = this.#held;
    const isStaged = ({ revision }: { readonly revision: string }): boolean => held.staged?.revision === revision;
    return {
      get seen() {
        return held.staged;
      },
      async look(signal) {
        signal.throwIfAborted();
        return held.staged;
      },
      stage: async (document, expected, request, signal) => {
        signal.throwIfAborted();
        this.#demandWritable();
        const { staged } = held;
        const isHeld = staged !== undefined && (staged.until ?? staged.at) >= request.leftBehindBefore;
        if (!this.#holds(expected) || isHeld) return undefined;
        return held.stage(document, expected.version + 1, request);
      },
      confirm: async (staged, signal) => {
        signal.throwIfAborted();
        if (isStaged(staged)) this.#own(() => held.confirm());
        return this.#holds(staged);
      },
      async discard(staged, signal) {
        signal.throwIfAborted();
        if (!isStaged(staged)) return false;
        held.discard();
        return true;
      },
    };
  }

  async *#changes(watch: { seen: DocumentState }, signal: AbortSignal): AsyncIterable<ConfigChange> {
    this.#watches.add(watch);
    let wake = Promise.withResolvers<void>();
    const onAbort = (): void => wake.resolve();
    using _ = this.#held.onChange(() => wake.resolve());
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      while (!signal.aborted) {
        const { state } = this.#held;
        if (state === watch.seen) {
          await wake.promise;
          wake = Promise.withResolvers();
        } else {
          watch.seen = this.#seen = state;
          yield state;
        }
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#watches.delete(watch);
    }
  }

  #holds({ revision }: Pick<StoredConfig, "revision">): boolean {
    const { state } = this.#held;
    return state.kind === "changed" && state.stored.revision === revision;
  }

  /** A write of our own, which the watches of this store do not tell. */
  #own<T>(write: () => T): T {
    const result = write();
    this.#seen = this.#held.state;
    for (const watch of this.#watches) watch.seen = this.#held.state;
    return result;
  }

  #demandWritable(): void {
    if (this.#readOnly) throw new ReadOnlyConfigError(`${this.source} is read-only: change it where it comes from`);
  }
}
