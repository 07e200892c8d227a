import type { ConfigLeftVersions, ConfigText, ConfigVersions, Logger, StoredConfig } from "@bridge/ports";
import type { StoredContent } from "./content.ts";
import type { FileAccess } from "./file-access.ts";
import { KeptVersions } from "./kept-versions.ts";
import { FileLeftVersions } from "./left-versions.ts";

/** Former documents of a file. */
export class FileVersions implements ConfigVersions {
  readonly left: ConfigLeftVersions;
  readonly #file: FileAccess;
  readonly #kept: KeptVersions;
  readonly #logger: Logger;

  constructor(file: FileAccess, format: ConfigText["format"], logger: Logger) {
    this.#file = file;
    this.#kept = new KeptVersions(format);
    this.left = new FileLeftVersions(file, format, logger);
    this.#logger = logger;
  }

  async list(signal: AbortSignal): Promise<readonly number[]> {
    signal.throwIfAborted();
    return this.#kept.list(await this.#file.place());
  }

  async load(version: number, signal: AbortSignal): Promise<StoredConfig | undefined> {
    const bytes = await this.#kept.read(await this.#file.place(), version, signal);
    if (bytes === undefined) return undefined;
    const what = `version ${version} of ${this.#file.source}, as it is kept,`;
    return (await this.#file.former(bytes, what, signal)).stored;
  }

  async keepReverted(reverted: StoredConfig, signal: AbortSignal): Promise<void> {
    const { bytes } = this.#file.contentOf(reverted);
    const keep = (target: string): Promise<void> => this.#kept.keep(target, reverted.version, bytes, true, signal);
    await this.#file.alone(signal, keep, () => this.#file.nowhere());
  }

  /**
   * Before something else takes the place of `former`, by the writer that is at work. That it cannot be kept fails no
   * write.
   */
  async keep(target: string, { stored, bytes }: StoredContent, signal: AbortSignal): Promise<void> {
    try {
      await this.#kept.keep(target, stored.version, bytes, false, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#logger.warn("the former configuration is not kept: nobody can go back to it", {
        config_version: stored.version,
        error: error instanceof Error ? error.message : String(error),
      });
    }
  }
}
