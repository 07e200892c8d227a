import { BridgeError } from "@bridge/ports";
import { DamagedFiles } from "./damaged-files.ts";
import type { FileFault } from "./file-fault.ts";
import { type FormerFile, type OpenedFile, type OpeningOptions, openOrCreate } from "./open-or-create.ts";

/** A file that failed is opened again after this time at the earliest. */
const RETRY_MS = 1_000;

interface Failure {
  readonly error: BridgeError;
  readonly damage: FileFault | undefined;
  /** Monotonic milliseconds. */
  readonly retryAt: number;
}

/** A file that is closed when it fails, and opened again when somebody next asks for it. */
export class RecoveringFile<Statements> {
  readonly path: string;
  readonly damaged: DamagedFiles;
  readonly #options: OpeningOptions<Statements>;
  readonly #release: () => Promise<void>;
  #opened: OpenedFile<Statements> | undefined;
  #failure: Failure | undefined;
  #releasing = false;

  /** `release` lets go of the file whoever else has it open: it is not opened again before that has happened. */
  constructor(path: string, options: OpeningOptions<Statements>, release: () => Promise<void>) {
    this.path = path;
    this.#options = options;
    this.#release = release;
    this.damaged = new DamagedFiles(path);
    this.#opened = this.#connect({ damage: undefined, known: false });
  }

  /** Why it is not open. */
  get failure(): BridgeError | undefined {
    return this.#failure?.error;
  }

  /** Throws a {@link BridgeError} while the file cannot be used, and after the end. */
  open(): OpenedFile<Statements> {
    if (this.#opened !== undefined) return this.#opened;
    const { clock, logger } = this.#options;
    const failure = this.#failure;
    if (failure === undefined) throw new BridgeError("UNAVAILABLE", `${this.path} is closed`, { charged: false });
    if (this.#releasing || clock.monotonic() < failure.retryAt) throw failure.error;
    try {
      this.#opened = this.#connect({ damage: failure.damage, known: true });
    } catch (thrown) {
      this.#failure = { ...failure, error: BridgeError.from(thrown), retryAt: clock.monotonic() + RETRY_MS };
      throw thrown;
    }
    this.#failure = undefined;
    logger.warn("the file is in use again", { file: this.path });
    return this.#opened;
  }

  /** Whether this is still the open file: it is another one after a failure. */
  isOpen(file: OpenedFile<Statements>): boolean {
    return this.#opened === file;
  }

  /** Closes the file: what was written to it last may last or not. */
  fail(fault: FileFault): void {
    const opened = this.#opened;
    if (opened === undefined) return;
    const { clock, logger } = this.#options;
    logger.error("the file failed and is opened again", { file: this.path, error: fault.message });
    this.#failure = { error: fault, damage: fault.fault === "damaged" ? fault : undefined, retryAt: clock.monotonic() };
    const rest = this.#letGo(opened, fault);
    this.#releasing = true;
    void this.#release().finally(() => {
      rest?.[Symbol.dispose]();
      this.#releasing = false;
    });
  }

  /** What SQLite holds of a log that is gone has to go into the file; of any other one the disk has to answer for first. */
  #letGo(opened: OpenedFile<Statements>, { fault }: FileFault): Disposable | undefined {
    if (fault === "disturbed") {
      this.close();
      return undefined;
    }
    this.#opened = undefined;
    try {
      return opened.letGo();
    } catch (error) {
      this.#tellUnclosed(error);
      return undefined;
    }
  }

  close(): void {
    const opened = this.#opened;
    this.#opened = undefined;
    try {
      opened?.close();
    } catch (error) {
      // What it still had to write stays in its log.
      this.#tellUnclosed(error);
    }
  }

  #tellUnclosed(error: unknown): void {
    this.#options.logger.warn("the file was not closed well", { file: this.path, error: String(error) });
  }

  #connect(former: FormerFile): OpenedFile<Statements> {
    const opened = openOrCreate(this.path, this.#options, former, this.damaged);
    this.damaged.look();
    return opened;
  }
}
