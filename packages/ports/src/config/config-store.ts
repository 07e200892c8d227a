/** Keeps the document that configures a bridge, as people wrote it. @module */
import { knownAcrossCopies } from "../known-across-copies.ts";
import type { ConfigDepartures } from "./config-departures.ts";
import type { ConfigHistory } from "./config-history.ts";
import type { ConfigProbations } from "./config-probations.ts";
import type { ConfigStaging } from "./config-staging.ts";
import type { ConfigTexts } from "./config-texts.ts";
import type { ConfigVersions } from "./config-versions.ts";
import type { StoredConfig } from "./stored-config.ts";

/**
 * What a watched store has to tell: something to run, or why there is none.
 *
 * - `changed`: another hand wrote this; what the store itself wrote is not told.
 * - `missing`: there is no document any more.
 * - `unreadable`: there is one, but it cannot be read or parsed; `error` is for people and quotes no value.
 */
export type ConfigChange =
  | { readonly kind: "changed"; readonly stored: StoredConfig }
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly error: Error };

/**
 * Where the configuration of a bridge is kept. One writer wins: every write is a compare-and-set on the version and on
 * the exact content.
 */
export interface ConfigStore extends AsyncDisposable {
  /** For people, as in `config_watch.source`: the path of a file, the name of a table. */
  readonly source: string;
  /**
   * Names the content that this store has last loaded, written or told, also that there was none; `undefined` before the
   * first. Another content has another name.
   */
  readonly seen: string | undefined;
  /** The most that a document may have as JSON, in bytes. Absent: more than anybody commits. */
  readonly maxDocumentBytes?: number;
  /**
   * `undefined` when there is no document.
   * @throws Error when there is one that cannot be read or parsed
   */
  load(signal: AbortSignal): Promise<StoredConfig | undefined>;
  /**
   * Writes `document` as version `expected.version + 1`, durably and whole or not at all. `undefined`, and nothing is
   * written, when what is stored has not the revision of `expected` any more; its version may be a higher one than that.
   * @param text a text that is changed so that it says `document`, for a store that has {@link texts}. Default: that of what
   * is stored
   * @throws ReadOnlyConfigError when this store cannot be written to
   */
  write(
    document: Readonly<Record<string, unknown>>,
    expected: StoredConfig,
    signal: AbortSignal,
    text?: string,
  ): Promise<StoredConfig | undefined>;
  /**
   * Puts back exactly what `former` was, its version too, if what is stored is still `current`; tells whether it is
   * done. `former` comes from this store's own `load` or `write` in this process.
   */
  restore(former: StoredConfig, current: StoredConfig, signal: AbortSignal): Promise<boolean>;
  /**
   * Tells of changes by other hands since this store last loaded or wrote, until `signal` aborts, at which it ends; the
   * newest one only, when the reader is slow.
   */
  watch(signal: AbortSignal): AsyncIterable<ConfigChange>;
  /** Committed changes, kept beside the document; the newest 20. Absent when the store keeps none. */
  readonly history?: ConfigHistory;
  /** The texts of documents, to be shown and replaced as a whole. Absent: the store keeps documents without their texts. */
  readonly texts?: ConfigTexts;
  /** Former documents, to go back to. Absent: the store keeps none. */
  readonly versions?: ConfigVersions;
  /** What a change may leave behind, kept over the end of the process. Absent: instances share what is stored, or nothing outlasts a process. */
  readonly departures?: ConfigDepartures;
  /** For commits that revert themselves, where one process writes what is stored. Absent: see {@link staging}. */
  readonly probations?: ConfigProbations;
  /** For a document that several instances follow. Absent: one instance reads and commits what is stored. */
  readonly staging?: ConfigStaging;
}

/** A document that can be read here and not written. */
export class ReadOnlyConfigError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "ReadOnlyConfigError" });
    knownAcrossCopies(this, "read-only-config-error");
  }
}
