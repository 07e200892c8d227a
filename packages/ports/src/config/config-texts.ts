import { knownAcrossCopies } from "../known-across-copies.ts";
import type { StoredConfig } from "./stored-config.ts";

/** A document as people wrote it, with its comments and its layout. */
export interface ConfigText {
  /** Of which form it is; YAML may be JSON. */
  readonly format: "yaml" | "json";
  readonly text: string;
}

export interface ConfigTexts {
  /** Of what this store has loaded, written or told. */
  of(stored: StoredConfig, signal: AbortSignal): Promise<ConfigText>;
  /** What `text` says. @throws ConfigTextError when it is no document, or none that this store could write */
  read(text: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
  /**
   * `text`, which is a document, changed so that it says `document`; what does not change stays as it is written.
   * @param hidden each of these is replaced by `[REDACTED]` where a comment holds it
   */
  edit(
    text: string,
    document: Readonly<Record<string, unknown>>,
    hidden: readonly string[],
    signal: AbortSignal,
  ): Promise<string>;
}

/** A text that is no document; the message says why, and where, without quoting it. */
export class ConfigTextError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "ConfigTextError" });
    knownAcrossCopies(this, "config-text-error");
  }
}
