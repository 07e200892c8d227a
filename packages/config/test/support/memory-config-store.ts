import {
  type ConfigChange,
  type ConfigHistoryEntry,
  type ConfigStore,
  ReadOnlyConfigError,
  type StoredConfig,
} from "@bridge/ports";
import { withEntry } from "@bridge/ports/internal";
import type { Json } from "./documents.ts";

/** A store that fails when it is told to. */
export class MemoryConfigStore implements ConfigStore {
  readonly source = "memory";
  readonly seen = undefined;
  readonly entries: ConfigHistoryEntry[] = [];
  /** Thrown by the method of that name; called before it does anything. */
  readonly faults: { [Method in "load" | "write" | "restore" | "append"]?: () => void } = {};
  /** Called when a write is done, before it is told. */
  afterWrite: () => void = () => {};
  readOnly = false;
  #stored: StoredConfig | undefined;
  #revisions = 0;

  constructor(document: Json | undefined) {
    if (document !== undefined) this.byHand(document);
  }

  get stored(): StoredConfig | undefined {
    return this.#stored;
  }

  /** What somebody does who knows nothing of this store. */
  byHand(document: Json): void {
    const version = typeof document["config_version"] === "number" ? document["config_version"] : 0;
    this.#stored = { version, revision: String(++this.#revisions), document };
  }

  remove(): void {
    this.#stored = undefined;
  }

  load(): Promise<StoredConfig | undefined> {
    return doing(() => {
      this.faults.load?.();
      return this.#stored;
    });
  }

  write(document: Json, expected: StoredConfig): Promise<StoredConfig | undefined> {
    return doing(() => {
      if (this.readOnly) throw new ReadOnlyConfigError("it is read-only");
      if (this.#stored?.revision !== expected.revision) return undefined;
      this.faults.write?.();
      this.byHand({ ...document, config_version: expected.version + 1 });
      const written = this.#stored;
      this.afterWrite();
      return written;
    });
  }

  restore(former: StoredConfig, current: StoredConfig): Promise<boolean> {
    return doing(() => {
      this.faults.restore?.();
      if (this.#stored?.revision !== current.revision) return false;
      this.#stored = former;
      return true;
    });
  }

  async *watch(): AsyncIterable<ConfigChange> {}

  readonly history = {
    append: (entry: ConfigHistoryEntry): Promise<void> =>
      doing(() => {
        this.faults.append?.();
        this.entries.splice(0, this.entries.length, ...withEntry(this.entries, entry));
      }),
    list: (): Promise<readonly ConfigHistoryEntry[]> => doing(() => [...this.entries]),
  };

  async [Symbol.asyncDispose](): Promise<void> {}
}

function doing<Result>(work: () => Result): Promise<Result> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
