import { isDeepStrictEqual } from "node:util";
import type { BridgeConfig, Registry } from "@bridge/config";
import { type Clock, type Logger, type StoredConfig } from "@bridge/ports";
import { patientDeadline } from "@bridge/ports/internal";
import type { ConfigOrigin } from "./config-origin.ts";
import { messageOf } from "./message-of.ts";
import { type Overrule, overruledNowhere } from "./overrule.ts";

/** What can be run, or why nothing can: already logged, line by line. */
export type Judged =
  | { readonly ok: true; readonly config: BridgeConfig; readonly stored: StoredConfig }
  | {
      readonly ok: false;
      readonly missing: boolean;
      /** Whether it may be found usable in a moment, without having changed. */
      readonly unread: boolean;
      readonly error: string;
      readonly problems: readonly string[];
      /** Whether it was logged before, and so is not logged again. */
      readonly repeated: boolean;
    };

export interface ConfigSourceOptions {
  readonly origin: ConfigOrigin;
  readonly registry: Registry;
  /** Default: nothing of the configuration is overruled. */
  readonly overrule?: Overrule | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface RefusalOptions {
  readonly unread?: boolean;
  readonly known?: readonly string[] | undefined;
}

/** Of the problems of one document, and of its warnings, so many have a line of the log each. */
const TOLD = 20;
const READ_TIMEOUT_MS = 30_000;

/**
 * Where the configuration of a process comes from, read with the eyes of this process: its adapters and its
 * environment.
 */
export class ConfigSource {
  readonly origin: ConfigOrigin;
  readonly #options: ConfigSourceOptions;

  constructor(options: ConfigSourceOptions) {
    this.origin = options.origin;
    this.#options = options;
  }

  get store(): ConfigOrigin["store"] {
    return this.origin.store;
  }

  /**
   * What is there now. Rejects only with the signal's reason.
   *
   * @param isGone whether what was loaded counts as missing. Default: it does not
   */
  async read(
    signal: AbortSignal,
    isGone: (stored: StoredConfig, signal: AbortSignal) => Promise<boolean> = async () => false,
  ): Promise<Judged> {
    using bound = this.#bound();
    const either = AbortSignal.any([signal, bound.signal]);
    try {
      const stored = await this.store.load(either);
      if (stored === undefined || (await isGone(stored, either))) return this.missing();
      return await this.judge(stored, signal);
    } catch (error) {
      signal.throwIfAborted();
      return this.refuse([messageOf(error)]);
    }
  }

  /**
   * Whether what was loaded or told can be run; `known`, its problems as they were logged last, are not logged again.
   * Rejects only with the signal's reason.
   */
  async judge(stored: StoredConfig, signal: AbortSignal, known?: readonly string[]): Promise<Judged> {
    const { registry, overrule = overruledNowhere } = this.#options;
    using bound = this.#bound();
    try {
      const checked = await this.origin.check(stored, registry, AbortSignal.any([signal, bound.signal]));
      const repeated = !checked.ok && isDeepStrictEqual(checked.problems, known);
      if (!repeated) this.#warn(checked.warnings);
      if (!checked.ok) return this.refuse(checked.problems, { unread: checked.unread, known });
      const { config, warnings } = overrule(checked.config);
      this.#warn(warnings);
      return { ok: true, config: { ...config, stored }, stored };
    } catch (error) {
      signal.throwIfAborted();
      return this.refuse([messageOf(error)], { unread: true, known });
    }
  }

  /**
   * What is there now, if it can be run; nothing is logged. Rejects when nobody can tell, or with the signal's reason.
   */
  async glance(signal: AbortSignal): Promise<BridgeConfig | undefined> {
    const { registry, overrule = overruledNowhere } = this.#options;
    const stored = await this.store.load(signal);
    if (stored === undefined) return undefined;
    const checked = await this.origin.check(stored, registry, signal);
    return checked.ok ? { ...overrule(checked.config).config, stored } : undefined;
  }

  missing(known?: readonly string[]): Judged {
    const error = `${this.store.source}: ${this.origin.whenMissing}`;
    const problems = [error];
    const repeated = isDeepStrictEqual(problems, known);
    return { ok: false, missing: true, unread: false, error, problems, repeated };
  }

  /** Logs why there is nothing to run, unless that is `known`. */
  refuse(problems: readonly string[], { unread = false, known }: RefusalOptions = {}): Judged {
    const repeated = isDeepStrictEqual(problems, known);
    if (!repeated) this.#log(problems);
    const [first = "", ...others] = problems;
    const error = others.length === 0 ? first : `${first} (and ${others.length} more)`;
    return { ok: false, missing: false, unread, error, problems, repeated };
  }

  #warn(warnings: readonly string[]): void {
    const { logger } = this.#options;
    for (const warning of warnings.slice(0, TOLD)) logger.warn("configuration warning", { warning });
    if (warnings.length > TOLD)
      logger.warn("configuration warning: there are more, and -validate lists them", { more: warnings.length - TOLD });
  }

  #log(problems: readonly string[]): void {
    const { logger } = this.#options;
    for (const problem of problems.slice(0, TOLD)) logger.error("configuration refused", { problem });
    if (problems.length > TOLD)
      logger.error("configuration refused: there are more problems, and -validate lists them", {
        more: problems.length - TOLD,
      });
  }

  #bound() {
    const { source } = this.store;
    return patientDeadline(
      this.#options.clock,
      READ_TIMEOUT_MS,
      new Error(`${source} and what it refers to could not be read in 30 s`),
    );
  }
}
