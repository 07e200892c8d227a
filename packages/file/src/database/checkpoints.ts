import type { Clock, Logger } from "@bridge/ports";
import type { Checkpointer, CheckpointResult } from "./checkpointer.ts";
import { type Connection, isLogFull } from "./connection.ts";
import { type GroupCommit, isFull } from "./group-commit.ts";
import type { HangWatch } from "./hang-watch.ts";

/** The log's size is looked at after so many groups, because each look is a call to the system. */
const GROUPS_A_LOOK = 8;
/** A checkpoint that failed is tried again after this time at the earliest. */
const RETRY_MS = 1_000;

interface CheckpointsOptions {
  readonly commits: Pick<GroupCommit<unknown>, "between" | "fault">;
  readonly hang: HangWatch;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** When the log is brought into the file. */
export class Checkpoints {
  readonly #path: string;
  readonly #checkpointer: Checkpointer;
  readonly #options: CheckpointsOptions;
  #running: Promise<void> | undefined;
  #nextAt = 0;
  #nextForRoomAt = 0;
  #groups = 0;
  /** Why the last one failed: it is told once for each reason, as a disk may be full for hours. */
  #told: string | undefined;

  constructor(path: string, checkpointer: Checkpointer, options: CheckpointsOptions) {
    this.#path = path;
    this.#checkpointer = checkpointer;
    this.#options = options;
  }

  /** A group is durable. */
  committed(file: Connection): void {
    if (this.#running !== undefined || (++this.#groups % GROUPS_A_LOOK !== 0 && !this.#isShort)) return;
    if (this.#options.clock.monotonic() < this.#nextAt || !isLogFull(file)) return;
    this.#begin(file);
  }

  /**
   * The disk had no room for a write, which the log may have: what it holds is brought into the file, however little it is, and the
   * log begins anew in the room that it has taken.
   */
  refused(file: Connection): void {
    const now = this.#options.clock.monotonic();
    if (this.#running !== undefined || file.logEnd.pages.size === 0) return;
    if (now < Math.max(this.#nextAt, this.#nextForRoomAt)) return;
    this.#nextForRoomAt = now + RETRY_MS;
    this.#begin(file);
  }

  /** Of room on the disk. */
  get #isShort(): boolean {
    return isFull(this.#options.commits.fault);
  }

  #begin(file: Connection): void {
    this.#running = this.#checkpoint(file).finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when no thread holds the file any more. */
  async close(): Promise<void> {
    await this.#running;
    await this.#checkpointer.close();
  }

  /**
   * Twice: beside the writes, and then without them for the little that came in meanwhile, so that it ever ends. Only without them where
   * the log has no room to grow meanwhile.
   */
  async #checkpoint({ contents }: Connection): Promise<void> {
    const { commits, hang, clock, logger } = this.#options;
    let result: CheckpointResult = { isWhole: false };
    await commits.between(async () => {
      result = await this.#checkpointer.open();
    });
    // Whoever looks next says why.
    if (result.error === undefined && !contents.beginCheckpoint()) return;
    if (result.error === undefined && !this.#isShort) {
      result = await this.#checkpointer.run();
      if (result.error !== undefined) contents.endCheckpoint();
    }
    if (result.error === undefined) {
      await commits.between(async () => {
        const sampling = contents.sampling();
        result = await hang.during(() => this.#checkpointer.run(sampling?.pieces));
        contents.endCheckpoint(sampling, result.error === undefined ? result.reading : undefined);
      });
    }
    const told = this.#told;
    this.#told = result.error?.message;
    if (result.error === undefined) return;
    this.#nextAt = clock.monotonic() + RETRY_MS;
    if (result.error.message !== told)
      logger.warn("the log was not brought into the file; it grows until that succeeds", {
        file: this.#path,
        error: result.error.message,
      });
  }
}
