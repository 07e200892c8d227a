import { existsSync } from "node:fs";
import { type AuditDetail, type AuditEvent, type AuditSink, LOOKS } from "@bridge/audit";
import { FileFault, lockFile, makeFolder } from "@bridge/file-kit";
import type { Clock, Logger } from "@bridge/ports";
import { ChainedFile, type ChainedFileOptions, type Disturbance } from "./chained-file.ts";
import type { Link } from "./record.ts";

/** How often the head is logged. */
const CHECK_MS = 60_000;
/** How often it is looked whether the file is in its place and whole, besides before each change. */
const LOOK_MS = 1_000;
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
  /** Rejects while the file cannot be written. */
  ready(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Waiting {
  /** Absent: only asks whether the file is ready. */
  readonly event?: AuditEvent;
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
  #lock: Disposable | undefined;
  readonly #waiting: Waiting[] = [];
  readonly #ticks: Disposable[] = [];
  #checkIsDue = false;
  #lookIsDue = false;
  /** What was done to the file, until a record says so. */
  #disturbed: Disturbance | undefined;
  #running: Promise<void> | undefined;
  #file: ChainedFile | undefined;
  /** Where the chain was when the file was last closed. */
  #last: Link | undefined;
  /** The last record whose writer was told that it is kept. */
  #confirmed = 0;
  /** Events since then whose writers were told that they are not. */
  #failed = 0;
  #loggedHead = "";
  #fault: string | undefined;
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
    this.#ticks.push(
      this.#clock.every(CHECK_MS, () => {
        this.#checkIsDue = true;
        this.#running ??= this.#run();
      }),
      this.#clock.every(LOOK_MS, () => {
        this.#lookIsDue = true;
        this.#running ??= this.#run();
      }),
    );
  }

  write(event: AuditEvent): Promise<void> {
    return this.#ask({ event });
  }

  /** Why the file cannot be written now. */
  fault(): string | undefined {
    return this.#fault;
  }

  ready(): Promise<void> {
    return this.#ask({});
  }

  #ask(asked: Pick<Waiting, "event">): Promise<void> {
    if (this.#closed) return Promise.reject(new Error(`${this.#options.path} is closed`));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...asked, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const one of this.#ticks) one[Symbol.dispose]();
    await this.#running;
    // Says what is missing, if the disk lets it.
    if (this.#failed > 0) await this.#ready().catch(() => {});
    await this.#check();
    await this.#close();
    this.#lock?.[Symbol.dispose]();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 || this.#checkIsDue || this.#lookIsDue) {
      // Everything that this turn of the event loop brings goes into one group.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#checkIsDue) await this.#check();
      if (this.#lookIsDue) await this.#resume();
      if (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0, MAX_GROUP));
    }
    this.#running = undefined;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const events = group.flatMap(({ event }) => event ?? []);
    try {
      await this.#look();
      const file = await this.#ready();
      await file.append(events);
      for (const { event, resolve } of group) if (event !== undefined && LOOKS.has(event.action)) resolve();
      if (events.some(({ action }) => !LOOKS.has(action))) await file.sync();
      this.#confirmed = file.head.seq;
      for (const { resolve } of group) resolve();
    } catch (thrown) {
      this.#failed += events.length;
      await this.#close();
      const fault = FileFault.of(this.#options.path, thrown) ?? thrown;
      this.#fault = messageOf(fault);
      for (const { reject } of group) reject(fault);
    }
  }

  /** Notices what somebody did to the file; what is written into one that is gone would be lost. */
  async #look(): Promise<void> {
    const disturbed = await this.#file?.disturbance();
    if (disturbed === undefined) return;
    this.#disturbed = disturbed;
    this.#logger.error("audit file was moved, deleted, replaced or cut: a new one is begun, or what is there goes on", {
      file: this.#options.path,
      found: disturbed,
    });
    await this.#close();
  }

  /** Looks, and makes the file again at once if it has to be, so that the next change need not be refused; never rejects. */
  async #resume(): Promise<void> {
    this.#lookIsDue = false;
    try {
      await this.#look();
      if (this.#disturbed !== undefined) await this.#ready();
    } catch (error) {
      this.#tellFailed(error);
      await this.#close();
    }
  }

  /** With the folder the lock is gone, too: another process could have taken the path. */
  #lockAgain(): void {
    if (existsSync(`${this.#options.path}-lock`)) return;
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
    makeFolder(this.#options.path);
    this.#lock = lockFile(this.#options.path);
  }

  /** The open file; opened again after an error, with a record that says what is missing. */
  async #ready(): Promise<ChainedFile> {
    if (this.#file !== undefined) return this.#file;
    this.#lockAgain();
    const file = await ChainedFile.open(this.#options, this.#last);
    try {
      // What was not confirmed may be in the file all the same.
      const lost = this.#last === undefined ? 0 : Math.max(0, this.#failed + this.#confirmed - file.head.seq);
      const { torn, intact, plain } = file.finding;
      const disturbed = this.#disturbed;
      const found = {
        ...(disturbed !== undefined && { file: disturbed }),
        ...(torn > 0 && { torn_bytes: torn }),
        ...(!intact && { intact }),
        ...(plain && { plain }),
        ...(lost > 0 && { lost }),
      };
      if (Object.keys(found).length > 0) {
        this.#logger.warn("audit file resumed", { file: this.#options.path, record: file.head.seq + 1, ...found });
        await file.append([this.#resumed(found)]);
      }
      // Told now, even if the disk should fail again: otherwise the next record would tell it once more.
      this.#confirmed = file.head.seq;
      this.#failed = 0;
      this.#disturbed = undefined;
      if (Object.keys(found).length > 0) await file.sync();
    } catch (error) {
      this.#last = file.head;
      await file.close().catch(() => {});
      throw error;
    }
    this.#file = file;
    this.#fault = undefined;
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

  /** Makes durable what was not synced, and logs the head. */
  async #check(): Promise<void> {
    this.#checkIsDue = false;
    await this.#resume();
    const file = this.#file;
    if (file === undefined) return;
    try {
      await file.sync();
      this.#logHead(file);
    } catch (error) {
      this.#tellFailed(error);
      await this.#close();
    }
  }

  /** Once for each reason: it may be so for hours, and is looked at each second. */
  #tellFailed(error: unknown): void {
    const reason = FileFault.of(this.#options.path, error)?.message ?? messageOf(error);
    if (reason !== this.#fault) this.#logger.error("audit file failed", { file: this.#options.path, error: reason });
    this.#fault = reason;
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
