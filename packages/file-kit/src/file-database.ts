import { BridgeError, type StoreHealth } from "@bridge/ports";
import { Checkpointer, type CheckpointResult } from "./checkpointer.ts";
import { carryLogOver, isLogFull } from "./connection.ts";
import { FileFault, opening } from "./file-fault.ts";
import { lockFile } from "./file-lock.ts";
import { type DiskSync, diskSync, GroupCommit } from "./group-commit.ts";
import { HangWatch } from "./hang-watch.ts";
import type { OpenedFile, OpeningOptions } from "./open-or-create.ts";
import { realPlaceOf } from "./real-place.ts";
import { RecoveringFile } from "./recovering-file.ts";
import type { Job } from "./transaction.ts";

/** While the disk refuses writes it is asked so often whether it still does, so that it is known when it does not. */
const PROBE_MS = 10_000;
/** So often it is looked whether the file is still in its place. */
const LOOK_MS = 1_000;
/** The log's size is looked at after so many groups, because each look is a call to the system. */
const GROUPS_A_LOOK = 8;
/** A checkpoint that failed is tried again after this time at the earliest. */
const CHECKPOINT_RETRY_MS = 1_000;

export interface FileDatabaseOptions<Statements> extends OpeningOptions<Statements> {
  /** A relative one starts at the working directory. */
  readonly path: string;
  /** From so many bytes on only what makes room is written. The log comes on top. Default: as much as there is. */
  readonly maxBytes?: number | undefined;
  /** How a group is made durable. */
  readonly sync?: DiskSync | undefined;
}

/**
 * A SQLite file for one process: reads at once, writes in groups that are synced together, and comes back by itself
 * when its disk does.
 */
export class FileDatabase<Statements> implements AsyncDisposable {
  readonly #options: FileDatabaseOptions<Statements>;
  readonly #lock: Disposable;
  readonly #file: RecoveringFile<Statements>;
  readonly #commits: GroupCommit<Statements>;
  readonly #checkpointer: Checkpointer;
  readonly #hang: HangWatch;
  readonly #timers: readonly Disposable[];
  #probing = false;
  #checkpointing: Promise<void> | undefined;
  #nextCheckpointAt = 0;
  #groups = 0;
  /** Why nothing new is taken: the file is not where it was opened. */
  #displaced: BridgeError | undefined;
  /** As what the log of the file was set aside, when that was gone. */
  #logAside: string | undefined;
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
    const path = opening(options.path, () => realPlaceOf(options.path));
    this.#lock = opening(path, () => lockFile(path));
    this.#checkpointer = new Checkpointer(path);
    try {
      this.#file = opening(path, () => new RecoveringFile(path, options, () => this.#checkpointer.close()));
    } catch (error) {
      this.#lock[Symbol.dispose]();
      throw error;
    }
    const target = {
      path,
      open: () => this.#unharmed(),
      refusal: () => this.#refusal(),
      displacement: (file: OpenedFile<Statements>) => this.#displacement(file, "written"),
      isOpen: (file: OpenedFile<Statements>) => this.#file.isOpen(file),
      committed: (file: OpenedFile<Statements>) => this.#committed(file),
      failed: (fault: FileFault) => this.#file.fail(fault),
    };
    const hang = (this.#hang = new HangWatch(path, options.clock));
    const { sync = diskSync } = options;
    this.#commits = new GroupCommit(target, (file) => hang.during(() => sync(file)));
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
      const fault = FileFault.of(path, thrown);
      if (fault !== undefined && fault.fault !== "busy") this.#file.fail(fault);
      throw fault ?? BridgeError.from(thrown);
    }
  }

  /** Resolves when the job is durable. Rejects with a {@link BridgeError} when it was not done, or may not last. */
  async write<Result>(job: Job<Statements, Result>): Promise<Result> {
    this.assertOpen();
    return this.#commits.write(job);
  }

  /** Writes what waits, and gives the file back. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const timer of this.#timers) timer[Symbol.dispose]();
    await this.#commits.drained();
    await this.#checkpointing;
    await this.#checkpointer.close();
    this.#carryOver();
    this.#file.close();
    this.#lock[Symbol.dispose]();
  }

  /** Writes what is there already. */
  async #probe(): Promise<void> {
    if (this.#commits.fault === undefined || this.#probing) return;
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
      const fault = this.#displacement(this.#file.open(), "all");
      if (fault instanceof FileFault) this.#file.fail(fault);
      else if (fault !== undefined) this.#carryOver();
    } catch {
      // Told with what is next asked of the file.
    }
  }

  /**
   * What the file holds has to be whole without its log, which is set aside: the file may be moved back after this process
   * has ended.
   */
  #carryOver(): void {
    if (this.#logAside === undefined) return;
    try {
      carryLogOver(this.#file.open());
    } catch (error) {
      this.#options.logger.warn("what the log of the file that is gone holds was not brought into the file", {
        file: this.#file.path,
        set_aside: this.#logAside,
        error: String(error),
      });
    }
  }

  /**
   * Why what was written to the file would be gone with this process, or is: a {@link FileFault} when the file has to be
   * opened again, which writes a log anew that was deleted, and says what is to become of a file that was harmed.
   */
  #displacement(file: OpenedFile<Statements>, which: "written" | "all"): BridgeError | undefined {
    if (this.#logAside !== undefined && which === "all") this.#putBackLog(file, this.#logAside);
    const displaced = file.place.displaced(which);
    if (displaced === "file") return (this.#displaced ??= this.#leaveBehind(file));
    // Only a look at all of it says that all of it is there.
    if (this.#displaced !== undefined && which === "written") return this.#displaced;
    if (this.#displaced !== undefined) this.#options.logger.warn("the file is back in its place", { file: file.path });
    this.#displaced = undefined;
    return displaced === "log" ? new FileFault(file.path, "disturbed") : this.#harm(file, which);
  }

  /** Somebody has cut off what was written, or written over it. */
  #harm({ path, contents }: OpenedFile<Statements>, which: "written" | "all"): FileFault | undefined {
    const harm = contents.harmToLog() ?? (which === "all" ? contents.harmToFile() : undefined);
    return harm === undefined ? undefined : new FileFault(path, "damaged", { cause: new Error(harm) });
  }

  /** For what is to be written: behind the end of a log that was cut off, the next group would hide that. */
  #unharmed(): OpenedFile<Statements> {
    const file = this.#file.open();
    const harm = this.#harm(file, "written");
    if (harm !== undefined) throw harm;
    return file;
  }

  /** What is in the file is still read and delivered; its log must not be taken for that of another one in its place. */
  #leaveBehind({ path, place, mark }: OpenedFile<Statements>): BridgeError {
    const { clock, logger } = this.#options;
    const error = new BridgeError(
      "UNAVAILABLE",
      `${path} (or its lock) was deleted, moved away or replaced while it is in use: nothing new is taken. ` +
        "Put it back, or let what it holds be delivered or redriven from here and restart the bridge then",
      { charged: false },
    );
    const fields = { file: path };
    logger.error("the file is not in its place any more: what is in it ends with this process", fields);
    if (place.has("")) return error;
    try {
      mark.clear();
      if (place.has("-wal")) this.#logAside = this.#file.damaged.setAside(clock.now(), ["-wal"]);
      this.#carryOver();
      this.#file.damaged.look();
    } catch (thrown) {
      logger.warn("the log of the file that is gone was not set aside: delete it", {
        ...fields,
        error: String(thrown),
      });
    }
    return error;
  }

  /** The file is where it was opened again: its log, set aside because the file was gone, is no other file's. */
  #putBackLog({ path, place, mark, logEnd }: OpenedFile<Statements>, aside: string): void {
    if (!place.has("") || !place.has("-wal", `${aside}-wal`)) return;
    this.#logAside = undefined;
    try {
      this.#file.damaged.putBackLog(aside);
      if (place.has("-wal")) mark.set(logEnd);
    } catch (error) {
      this.#options.logger.warn("the log of the file that is back was not put back: it stays set aside", {
        file: path,
        set_aside: aside,
        error: String(error),
      });
    }
  }

  #refusal(): BridgeError | undefined {
    if (this.#displaced !== undefined) return this.#displaced;
    const { maxBytes, kind } = this.#options;
    if (maxBytes === undefined) return undefined;
    const { db, path } = this.#file.open();
    const { bytes } = db.prepare(USED_BYTES).get() as { readonly bytes: number };
    if (bytes < maxBytes) return undefined;
    return new BridgeError("UNAVAILABLE", `${path} holds max_bytes ${maxBytes}: ${kind.remedy}, or raise max_bytes`, {
      charged: false,
    });
  }

  #committed(file: OpenedFile<Statements>): void {
    if (this.#displaced !== undefined) return;
    file.mark.set(file.logEnd);
    if (this.#checkpointing !== undefined || this.#closing !== undefined) return;
    if (++this.#groups % GROUPS_A_LOOK !== 0) return;
    if (this.#options.clock.monotonic() < this.#nextCheckpointAt || !isLogFull(file)) return;
    this.#checkpointing = this.#checkpoint().finally(() => {
      this.#checkpointing = undefined;
    });
  }

  /** Twice: beside the writes, and then without them for the little that came in meanwhile, so that it ever ends. */
  async #checkpoint(): Promise<void> {
    let result: CheckpointResult = {};
    await this.#commits.between(async () => {
      result = await this.#checkpointer.open();
    });
    if (result.error === undefined) result = await this.#checkpointer.run();
    if (result.error === undefined) {
      await this.#commits.between(async () => {
        result = await this.#hang.during(() => this.#checkpointer.run());
      });
    }
    if (result.error === undefined) return;
    const { clock, logger } = this.#options;
    this.#nextCheckpointAt = clock.monotonic() + CHECKPOINT_RETRY_MS;
    logger.warn("the log was not brought into the file; it grows until that succeeds", {
      file: this.#file.path,
      error: result.error.message,
    });
  }
}

const USED_BYTES = `
  SELECT (page_count - freelist_count) * page_size AS bytes
  FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`;
