import { type AuditDetail, type AuditEvent, type AuditSink, LOOKS } from "@bridge/audit";
import { FileFault, lockFile, makeFolder } from "@bridge/file-kit";
import type { Clock, Logger } from "@bridge/ports";
import { ChainedFile, type ChainedFileOptions } from "./chained-file.ts";
import type { Link } from "./record.ts";

/** How often the head is logged, and looked whether the file is in its place. */
const CHECK_MS = 60_000;
/** Events that go into one write and one sync. */
const MAX_GROUP = 1_000;
const DEFAULTS = { maxBytes: 64 * 1024 * 1024, keep: 10 };

export interface FileSinkOptions extends Pick<ChainedFileOptions, "path" | "hmacKey"> {
  /** Bytes from which on a new file is begun. Default 64 MiB. */
  readonly maxBytes?: number | undefined;
  /** How many full files are kept beside the current one. Default 10. */
  readonly keep?: number | undefined;
  readonly clock: Clock;
  /** Is told the head of the chain each minute: give it a logger whose level lets `info` through. */
  readonly logger: Logger;
}

/** A sink that keeps events in a file. Disposing it writes what waits, and gives the file free. */
export interface FileSink extends AuditSink {
  write(event: AuditEvent): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Waiting {
  readonly event: AuditEvent;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Takes an audit file for this process, and goes on where its chain ends (contract: audit; spec 6).
 *
 * A write resolves when the event is on the disk; events of looking only, and of failed logins, as soon as they are
 * written. What comes in during a sync goes into the next one. A write that fails is not tried again: the record that
 * follows says how many there were.
 *
 * Rejects when another process has the file, when it is none of a bridge, and when it cannot be read or written.
 */
export async function openFileSink(options: FileSinkOptions): Promise<FileSink> {
  const { path, maxBytes = DEFAULTS.maxBytes, keep = DEFAULTS.keep, hmacKey, clock, logger } = options;
  try {
    makeFolder(path);
  } catch (error) {
    throw FileFault.of(path, error) ?? error;
  }
  const lock = lockFile(path);
  const sink = new Sink({ path, maxBytes, keep, hmacKey }, { clock, logger }, lock);
  try {
    await sink.open();
  } catch (error) {
    lock[Symbol.dispose]();
    throw FileFault.of(path, error) ?? error;
  }
  return sink;
}

class Sink implements FileSink {
  readonly name = "file";
  readonly #options: ChainedFileOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #lock: Disposable;
  readonly #waiting: Waiting[] = [];
  #checks: Disposable | undefined;
  #checkIsDue = false;
  #running: Promise<void> | undefined;
  #file: ChainedFile | undefined;
  /** Where the chain was when the file was last closed. */
  #last: Link | undefined;
  /** The last record whose writer was told that it is kept. */
  #confirmed = 0;
  /** Events since then whose writers were told that they are not. */
  #failed = 0;
  #loggedHead = "";
  #closed = false;

  constructor(
    options: ChainedFileOptions,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
    lock: Disposable,
  ) {
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#lock = lock;
  }

  async open(): Promise<void> {
    const file = await this.#ready();
    this.#logHead(file);
    this.#checks = this.#clock.every(CHECK_MS, () => {
      this.#checkIsDue = true;
      this.#running ??= this.#run();
    });
  }

  write(event: AuditEvent): Promise<void> {
    if (this.#closed) return Promise.reject(new Error(`${this.#options.path} is closed`));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#checks?.[Symbol.dispose]();
    await this.#running;
    // Says what is missing, if the disk lets it.
    if (this.#failed > 0) await this.#ready().catch(() => {});
    await this.#check();
    await this.#close();
    this.#lock[Symbol.dispose]();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 || this.#checkIsDue) {
      // Everything that this turn of the event loop brings goes into one group.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#checkIsDue) await this.#check();
      if (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0, MAX_GROUP));
    }
    this.#running = undefined;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    try {
      const file = await this.#ready();
      await file.append(group.map(({ event }) => event));
      const lasting = group.filter(({ event }) => !LOOKS.has(event.action));
      for (const { event, resolve } of group) if (LOOKS.has(event.action)) resolve();
      if (lasting.length > 0) await file.sync();
      this.#confirmed = file.head.seq;
      for (const { resolve } of lasting) resolve();
    } catch (thrown) {
      this.#failed += group.length;
      await this.#close();
      const fault = FileFault.of(this.#options.path, thrown) ?? thrown;
      for (const { reject } of group) reject(fault);
    }
  }

  /** The open file; opened again after an error, with a record that says what is missing. */
  async #ready(): Promise<ChainedFile> {
    if (this.#file !== undefined) return this.#file;
    const file = await ChainedFile.open(this.#options, this.#last);
    try {
      // What was not confirmed may be in the file all the same.
      const lost = this.#last === undefined ? 0 : Math.max(0, this.#failed + this.#confirmed - file.head.seq);
      const { torn, intact } = file.finding;
      const found = { ...(torn > 0 && { torn_bytes: torn }), ...(!intact && { intact }), ...(lost > 0 && { lost }) };
      if (Object.keys(found).length > 0) {
        this.#logger.warn("audit file resumed", { file: this.#options.path, record: file.head.seq + 1, ...found });
        await file.append([this.#resumed(found)]);
      }
      // Told now, even if the disk should fail again: otherwise the next record would tell it once more.
      this.#confirmed = file.head.seq;
      this.#failed = 0;
      if (Object.keys(found).length > 0) await file.sync();
    } catch (error) {
      this.#last = file.head;
      await file.close().catch(() => {});
      throw error;
    }
    this.#file = file;
    return file;
  }

  #resumed(found: AuditDetail): AuditEvent {
    return {
      timestamp: new Date(this.#clock.now()).toISOString(),
      action: "audit.resumed",
      actor: "bridge",
      resource_type: "audit",
      resource_id: this.#options.path,
      outcome: "success",
      detail: { ...found, client_addr: "" },
    };
  }

  /** Makes durable what was not synced, logs the head, and notices a file that was taken away. */
  async #check(): Promise<void> {
    this.#checkIsDue = false;
    const file = this.#file;
    if (file === undefined) return;
    try {
      await file.sync();
      if (!(await file.isInPlace())) {
        this.#logger.warn("audit file was moved or deleted: a new one is begun", { file: this.#options.path });
        await this.#close();
        await this.#ready();
      }
      this.#logHead(file);
    } catch (error) {
      const reason = FileFault.of(this.#options.path, error)?.message ?? String(error);
      this.#logger.error("audit file failed", { file: this.#options.path, error: reason });
      await this.#close();
    }
  }

  #logHead({ head }: ChainedFile): void {
    if (head.seq === 0 || head.hash === this.#loggedHead) return;
    this.#loggedHead = head.hash;
    this.#logger.info("audit head", { file: this.#options.path, record: head.seq, head: head.hash });
  }

  async #close(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    this.#last = file.head;
    await file.close().catch(() => {});
  }
}
