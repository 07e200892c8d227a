import { createHash } from "node:crypto";
import { type Companion, RotatingKeys, warnOfSharedKey } from "@bridge/host";
import type { KeyRefresh, MonitorKeys } from "@bridge/http-monitor";
import { type Seams, systemClock } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";

export interface RefreshedKeysOptions extends Seams {
  /** The keys as they are now where they are kept. */
  readonly read: (signal: AbortSignal) => Promise<MonitorKeys>;
  /** A change is in force at most this long after it was made, and the time that reading takes. */
  readonly pollIntervalMs: number;
}

const READ_TIMEOUT_MS = 20_000;

/**
 * The keys of the servers, read again and again. What cannot be read, or is malformed, leaves the last good ones in force,
 * is logged, and shows in deep health and in the metrics.
 */
export class RefreshedKeys implements Companion {
  readonly name = "key refresh";
  readonly keys: RotatingKeys;
  readonly #options: RefreshedKeysOptions;
  readonly #over = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Of what is in force, so that only a change is told. */
  #digest: string;
  #facts: KeyRefresh;

  private constructor(options: RefreshedKeysOptions, first: MonitorKeys) {
    this.#options = options;
    this.keys = new RotatingKeys(first);
    this.#digest = digestOf(first);
    this.#facts = { lastRefreshAt: options.clock.now(), failures: 0 };
  }

  /** @throws Error when they cannot be read within 20 s, or are malformed */
  static async open(options: RefreshedKeysOptions): Promise<RefreshedKeys> {
    return new RefreshedKeys(options, await bounded(options.read, new AbortController().signal));
  }

  facts(): KeyRefresh {
    return this.#facts;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(signal: AbortSignal): Promise<void> {
    this.#over.abort(new Error("the keys are read no more"));
    await orAborted(this.#running, signal);
  }

  async #run(): Promise<void> {
    const { clock, random, pollIntervalMs } = this.#options;
    const { signal } = this.#over;
    while (!signal.aborted) {
      // Somewhat early, so that instances which were started together do not ask together.
      await clock.delay(pollIntervalMs * (0.9 - 0.1 * random.next()), signal).catch(() => {});
      if (!signal.aborted) await this.#refresh(signal);
    }
  }

  /** Never rejects. */
  async #refresh(signal: AbortSignal): Promise<void> {
    const { read, clock, logger } = this.#options;
    try {
      const keys = await bounded(read, signal);
      const digest = digestOf(keys);
      if (digest !== this.#digest) {
        this.keys.replace(keys);
        this.#digest = digest;
        logger.info("the keys have changed: the new ones are in force");
        warnOfSharedKey(this.keys, logger);
      }
      this.#facts = { lastRefreshAt: clock.now(), failures: this.#facts.failures };
    } catch (error) {
      if (signal.aborted) return;
      const lastError = error instanceof Error ? error.message : String(error);
      this.#facts = { ...this.#facts, failures: this.#facts.failures + 1, lastError };
      logger.error("the keys could not be read again: the last good ones stay in force", { error: lastError });
    }
  }
}

async function bounded(read: RefreshedKeysOptions["read"], signal: AbortSignal): Promise<MonitorKeys> {
  using limit = deadline(systemClock, READ_TIMEOUT_MS, new Error("the keys were not read in 20 s"));
  const either = AbortSignal.any([signal, limit.signal]);
  return await orAborted(read(either), either);
}

function digestOf(keys: MonitorKeys): string {
  return createHash("sha256").update(JSON.stringify(keys)).digest("hex");
}
