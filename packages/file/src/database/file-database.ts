import { statSync, utimesSync } from "node:fs";
import { BridgeError, type StoreHealth } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { Checkpointer } from "./checkpointer.ts";
import { Checkpoints } from "./checkpoints.ts";
import { Displacement } from "./displacement.ts";
import { FileFault, opening } from "./file-fault.ts";
import { lockFile } from "./file-lock.ts";
import { type DiskSync, diskSync, GroupCommit } from "./group-commit.ts";
import { HangWatch } from "./hang-watch.ts";
import { changesOf } from "./mend.ts";
import type { OpenedFile, OpeningOptions } from "./open-or-create.ts";
import { faultAt } from "./obstacle.ts";
import { realPlaceOf } from "./real-place.ts";
import { RecoveringFile } from "./recovering-file.ts";
import { Room } from "./room.ts";
import { SlicePace } from "./slice-pace.ts";
import type { Job } from "./transaction.ts";
import { type UnreadableRow, unreadableIn } from "./unreadable-row.ts";

/** So often the disk is asked whether it takes writes, so that it is known when it does not any more, and when it does again. */
const PROBE_MS = 10_000;
/** What is unreadable in two ways is made readable in two steps. */
const MOST_MENDED = 2;
/** So often it is looked whether the file is still in its place. */
const LOOK_MS = 1_000;

export interface FileDatabaseOptions<Statements> extends OpeningOptions<Statements> {
  /** A relative one starts at the working directory. */
  readonly path: string;
  /** From so many bytes on only what makes room is written. The log comes on top. Default: as much as there is. */
  readonly maxBytes?: number | undefined;
  /** How a group is made durable. */
  readonly sync?: DiskSync | undefined;
  /**
   * Called when rows were changed in the open file so that they can be read. Without it they are when the file is opened, and no sooner:
   * whoever keeps in memory what the file holds would not know of it.
   */
  readonly onMended?: (statements: Statements) => void;
}

/**
 * A SQLite file for one process: reads at once, writes in groups that are synced together, and comes back by itself
 * when its disk does.
 */
export class FileDatabase<Statements> implements AsyncDisposable {
  /** Of what is written in slices, such as the deletion of thousands. */
  readonly slices: SlicePace;
  readonly #options: FileDatabaseOptions<Statements>;
  readonly #lock: Disposable;
  readonly #file: RecoveringFile<Statements>;
  readonly #commits: GroupCommit<Statements>;
  readonly #checkpoints: Checkpoints;
  readonly #hang: HangWatch;
  readonly #displacement: Displacement<Statements>;
  readonly #room = new Room();
  readonly #timers: readonly Disposable[];
  #probing = false;
  #closing: Promise<void> | undefined;

  /**
   * Takes the file for this process, and opens or creates it.
   *
   * Throws a {@link BridgeError} when another process has it, when it is of another program or a newer schema, when it
   * is damaged and `onDamage` says to refuse it, and when the disk does not let it be opened: with `retryAfterMs` when that
   * may pass, because the disk is full, read-only or fails.
   */
  constructor(options: FileDatabaseOptions<Statements>) {
    this.#options = options;
    this.slices = new SlicePace(options.clock);
    const path = opening(options.path, () => realPlaceOf(options.path));
    this.#lock = opening(path, () => lockFile(path));
    const checkpointer = new Checkpointer(path);
    try {
      this.#file = opening(path, () => new RecoveringFile(path, options, () => checkpointer.close()));
    } catch (error) {
      this.#lock[Symbol.dispose]();
      throw error;
    }
    const displacement = (this.#displacement = new Displacement(this.#file, options));
    const target = {
      path,
      open: () => displacement.unharmed(),
      refusal: () => this.#refusal(),
      displacement: (file: OpenedFile<Statements>) => displacement.of(file, "written"),
      isOpen: (file: OpenedFile<Statements>) => this.#file.isOpen(file),
      measured: <Result>(write: () => Result) => this.slices.measured(write),
      committed: (file: OpenedFile<Statements>) => this.#committed(file),
      full: () => this.#full(),
      failed: (fault: FileFault) => this.#file.fail(fault),
    };
    const hang = (this.#hang = new HangWatch(path, options.clock));
    const { sync = diskSync } = options;
    this.#commits = new GroupCommit(target, (file) => hang.during(() => sync(file)));
    this.#checkpoints = new Checkpoints(path, checkpointer, { commits: this.#commits, hang, ...options });
    this.#timers = [
      options.clock.every(PROBE_MS, () => void this.#probe()),
      options.clock.every(LOOK_MS, () => this.#look()),
    ];
  }

  /** Throws a {@link BridgeError} after the end. */
  assertOpen(): void {
    if (this.#closing === undefined) return;
    throw new BridgeError("UNAVAILABLE", `${this.#file.path} is closed`, { charged: false });
  }

  /** False while the disk takes no writes: from one that failed to the next that does not. */
  get writable(): boolean {
    return this.#commits.writable;
  }

  /** Never throws, and never waits. */
  health(): StoreHealth {
    const { damaged } = this.#file;
    return { fault: this.#fault(), setAside: damaged.unacknowledged };
  }

  /**
   * Files that were set aside as damaged are named no more. Returns those that were.
   *
   * Throws a {@link BridgeError} when the disk does not let that be kept.
   */
  acknowledgeDamage(): readonly string[] {
    this.assertOpen();
    const files = this.#file.damaged.acknowledge();
    if (files.length > 0) this.#options.logger.warn("damaged files acknowledged by an operator", { files });
    return files;
  }

  /** Throws a {@link BridgeError} when the file cannot be read. */
  read<Result>(query: (statements: Statements) => Result): Result {
    this.assertOpen();
    const { path, statements } = this.#file.open();
    try {
      return query(statements);
    } catch (thrown) {
      const fault = faultAt(path, thrown);
      if (fault !== undefined && fault.fault !== "busy") this.#file.fail(fault);
      throw fault ?? BridgeError.from(thrown);
    }
  }

  /**
   * Does what reads, and does it again when it meets a row that cannot be read: somebody may change one while the file is open, too.
   * It is made readable as when the file is opened.
   */
  reading<Result>(work: () => Result | Promise<Result>, signal: AbortSignal): Promise<Result> {
    return this.#orMended(work, signal);
  }

  /** Resolves when the job is durable. Rejects with a {@link BridgeError} when it was not done, or may not last. */
  async write<Result>(job: Job<Statements, Result>): Promise<Result> {
    this.assertOpen();
    return this.#orMended(() => this.#commits.write(job));
  }

  /** Writes what waits, and gives the file back. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const timer of this.#timers) timer[Symbol.dispose]();
    await this.#commits.drained();
    await this.#checkpoints.close();
    this.#displacement.carryLogOver();
    this.#file.close();
    this.#room[Symbol.dispose]();
    this.#lock[Symbol.dispose]();
  }

  async #orMended<Result>(work: () => Result | Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const { onMended } = this.#options;
    for (let mended = 0; ; mended++) {
      try {
        return await work();
      } catch (thrown) {
        const met = unreadableIn(thrown);
        if (onMended === undefined || met === undefined || mended === MOST_MENDED) throw thrown;
        const mending = this.#mend(met, onMended);
        await (signal === undefined ? mending : orAborted(mending, signal));
      }
    }
  }

  async #mend(met: UnreadableRow, onMended: (statements: Statements) => void): Promise<void> {
    const { kind, logger } = this.#options;
    const { path } = this.#file;
    const run = (statements: Statements): Statements | undefined => {
      const { db } = this.#file.open();
      const before = changesOf(db);
      kind.mend?.(db, met);
      return changesOf(db) > before ? statements : undefined;
    };
    const done = (mended: Statements | undefined): void => {
      if (mended === undefined) return;
      logger.warn("somebody has changed rows of the file so that they could not be read: they were made readable", {
        file: path,
      });
      onMended(mended);
    };
    await this.#commits.write({ frees: true, bytes: 0, run, done });
  }

  /** Writes what is there already, when the disk has refused something or looks as if it would. */
  async #probe(): Promise<void> {
    if (this.#probing || (this.#commits.fault === undefined && takesChanges(this.#file.path))) return;
    this.#probing = true;
    const version = this.#options.kind.migrations.length;
    const run = (): void => this.#file.open().db.exec(`PRAGMA user_version = ${version}`);
    await this.#commits.write({ frees: false, bytes: 0, run }).catch(() => {});
    this.#probing = false;
  }

  #fault(): string | undefined {
    try {
      return (this.#hang.fault ?? this.#commits.fault ?? this.#file.failure ?? this.#refusal())?.message;
    } catch (error) {
      return BridgeError.from(error).message;
    }
  }

  /** Whether the file is in its place and holds what was written; one that has failed is opened again. */
  #look(): void {
    try {
      const fault = this.#displacement.of(this.#file.open(), "all");
      if (fault instanceof FileFault) this.#file.fail(fault);
      else this.#displacement.carryLogOver();
    } catch {
      // Told with what is next asked of the file.
    }
  }

  #refusal(): BridgeError | undefined {
    if (this.#displacement.found !== undefined) return this.#displacement.found;
    const { maxBytes, kind } = this.#options;
    const file = this.#file.open();
    if (maxBytes === undefined) return this.#room.want(file);
    const { db, path } = file;
    const { bytes } = db.prepare(USED_BYTES).get() as { readonly bytes: number };
    if (bytes < maxBytes) return this.#room.want(file);
    return new BridgeError("UNAVAILABLE", `${path} holds max_bytes ${maxBytes}: ${kind.remedy}, or raise max_bytes`, {
      charged: false,
    });
  }

  #committed(file: OpenedFile<Statements>): void {
    if (this.#displacement.found !== undefined) return;
    file.mark.set(file.logEnd);
    this.#checkpoints.committed(file);
  }

  #full(): void {
    if (this.#displacement.found === undefined && this.#file.failure === undefined)
      this.#checkpoints.refused(this.#file.open());
  }
}

/** A disk that has become read-only shows it with the least that can be changed: the time of the file's lock. */
function takesChanges(path: string): boolean {
  try {
    const lock = `${path}-lock`;
    const { atime, mtime } = statSync(lock);
    utimesSync(lock, atime, mtime);
    return true;
  } catch {
    return false;
  }
}

const USED_BYTES = `
  SELECT (page_count - freelist_count) * page_size AS bytes
  FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`;
