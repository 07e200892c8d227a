import type { BridgeConfig, Registry } from "@bridge/config";
import { type ConfigFile, formatLocatedProblem } from "@bridge/config-file";
import { deadline, type Logger, type StoredConfig } from "@bridge/ports";
import type { HostProcess } from "./host-process.ts";
import { messageOf } from "./message-of.ts";

/** What can be run, or why nothing can: already logged, line by line. */
export type Judged =
  | { readonly ok: true; readonly config: BridgeConfig; readonly stored: StoredConfig }
  | { readonly ok: false; readonly missing: boolean; readonly error: string };

export interface ConfigSourceOptions {
  readonly store: ConfigFile;
  readonly registry: Registry;
  readonly env: HostProcess["env"];
  readonly logger: Logger;
}

const READ_TIMEOUT_MS = 30_000;

/** Where the configuration of a process comes from, read with the eyes of this process: its adapters and its environment. */
export class ConfigSource {
  readonly store: ConfigFile;
  readonly #options: ConfigSourceOptions;

  constructor(options: ConfigSourceOptions) {
    this.store = options.store;
    this.#options = options;
  }

  /** What is there now. Rejects only with the signal's reason. */
  async read(signal: AbortSignal): Promise<Judged> {
    using bound = this.#bound();
    const either = AbortSignal.any([signal, bound.signal]);
    try {
      const stored = await this.store.load(either);
      if (stored === undefined)
        return { ok: false, missing: true, error: `${this.store.source}: there is no such file` };
      return await this.judge(stored, signal);
    } catch (error) {
      signal.throwIfAborted();
      return this.refuse([messageOf(error)]);
    }
  }

  /** Whether what was loaded or told can be run. Rejects only with the signal's reason. */
  async judge(stored: StoredConfig, signal: AbortSignal): Promise<Judged> {
    const { registry, env, logger } = this.#options;
    using bound = this.#bound();
    try {
      const checked = await this.store.check(stored, registry, {
        env,
        signal: AbortSignal.any([signal, bound.signal]),
      });
      for (const warning of checked.warnings) {
        logger.warn("configuration warning", { warning: formatLocatedProblem(warning) });
      }
      if (!checked.ok) return this.refuse(checked.problems.map(formatLocatedProblem));
      return { ok: true, config: checked.config, stored };
    } catch (error) {
      signal.throwIfAborted();
      return this.refuse([messageOf(error)]);
    }
  }

  /** Logs why there is nothing to run. */
  refuse(problems: readonly string[]): Judged {
    for (const problem of problems) this.#options.logger.error("configuration refused", { problem });
    const [first = "", ...others] = problems;
    return { ok: false, missing: false, error: others.length === 0 ? first : `${first} (and ${others.length} more)` };
  }

  #bound() {
    const { source } = this.store;
    return deadline(READ_TIMEOUT_MS, new Error(`${source} and what it refers to could not be read in 30 s`));
  }
}
