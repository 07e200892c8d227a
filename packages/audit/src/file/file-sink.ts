import { setImmediate } from "node:timers";
import { type AuditEvent } from "../event.ts";
import { type AuditSink } from "../sink.ts";
import { LOOKS } from "../actions.ts";
import { FileFault, lockFile, realPlaceOf } from "@bridge/file/internal";
import type { Clock, Logger } from "@bridge/ports";
import type { ChainedFileOptions } from "./chained-file.ts";
import { FileHistory } from "./file-history.ts";
import { WatchedFile } from "./watched-file.ts";

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
  const { maxBytes = DEFAULTS.maxBytes, keep = DEFAULTS.keep, hmacKey, clock, logger } = options;
  const path = realPlaceOf(options.path);
  const lock = lockFile(path);
  const file = new WatchedFile({ path, maxBytes, keep, hmacKey }, { clock, logger }, lock);
  try {
    await file.open();
  } catch (error) {
    lock[Symbol.dispose]();
    throw FileFault.of(path, error) ?? error;
  }
  const writer = {
    keep,
    get confirmed() {
      return file.confirmed;
    },
  };
  return new Sink(path, file, clock, new FileHistory(path, hmacKey, clock, writer));
}

/** What waits for the file, and the clock's looks at it: one thing after another. */
class Sink implements FileSink {
  readonly name = "file";
  readonly history: FileHistory;
  readonly #path: string;
  readonly #file: WatchedFile;
  readonly #waiting: Waiting[] = [];
  readonly #ticks: readonly Disposable[];
  #checkIsDue = false;
  #lookIsDue = false;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(path: string, file: WatchedFile, clock: Clock, history: FileHistory) {
    this.history = history;
    this.#path = path;
    this.#file = file;
    this.#ticks = [
      clock.every(CHECK_MS, () => {
        this.#checkIsDue = true;
        this.#running ??= this.#run();
      }),
      clock.every(LOOK_MS, () => {
        this.#lookIsDue = true;
        this.#running ??= this.#run();
      }),
    ];
  }

  write(event: AuditEvent): Promise<void> {
    return this.#ask({ event });
  }

  /** Why the file cannot be written now. */
  fault(): string | undefined {
    return this.#file.fault;
  }

  ready(): Promise<void> {
    return this.#ask({});
  }

  #ask(asked: Pick<Waiting, "event">): Promise<void> {
    if (this.#closed) return Promise.reject(new Error(`${this.#path} is closed`));
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
    await this.#file.close();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 || this.#checkIsDue || this.#lookIsDue) {
      // Everything that this turn of the event loop brings goes into one group.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#checkIsDue) {
        [this.#checkIsDue, this.#lookIsDue] = [false, false];
        await this.#file.check();
      }
      if (this.#lookIsDue) {
        this.#lookIsDue = false;
        await this.#file.resume();
      }
      if (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0, MAX_GROUP));
    }
    this.#running = undefined;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const events = group.flatMap(({ event }) => event ?? []);
    const written = (): void => {
      for (const { event, resolve } of group) if (event !== undefined && LOOKS.has(event.action)) resolve();
    };
    try {
      await this.#file.append(events, written);
      for (const { resolve } of group) resolve();
    } catch (fault) {
      for (const { reject } of group) reject(fault);
    }
  }
}
