import { existsSync } from "node:fs";
import { type AuditDetail, type AuditEvent } from "../event.ts";
import { LOOKS } from "../actions.ts";
import { FileFault, lockFile, makeFolder } from "@bridge/file/internal";
import type { Clock, Logger } from "@bridge/ports";
import { Account } from "./account.ts";
import { ChainedFile, type ChainedFileOptions, type Disturbance } from "./chained-file.ts";
import type { Link } from "./record.ts";

/**
 * An audit file that is watched: what somebody does to it is noticed, and it is opened again after that and after an error,
 * with a record that says what is missing. Its calls do not overlap.
 */
export class WatchedFile {
  readonly #options: ChainedFileOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #lock: Disposable | undefined;
  /** What was done to the file, until a record says so. */
  #disturbed: Disturbance | undefined;
  #file: ChainedFile | undefined;
  readonly #account = new Account();
  #loggedHead = "";
  #fault: string | undefined;

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
    this.#logHead(await this.#ready());
  }

  /** Why the file cannot be written now. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** The last record whose writer was told that it is kept. */
  get confirmed(): Link {
    return this.#account.confirmed;
  }

  /** Writes events behind the last one and syncs what is no look; `written` is called in between. Rejects with a fault. */
  async append(events: readonly AuditEvent[], written: () => void): Promise<void> {
    try {
      await this.#look();
      const file = await this.#ready();
      await file.append(events);
      written();
      if (events.some(({ action }) => !LOOKS.has(action))) await file.sync();
      this.#account.confirm(file);
    } catch (thrown) {
      this.#account.fail(events.length);
      await this.#close();
      const fault = FileFault.of(this.#options.path, thrown) ?? thrown;
      this.#fault = messageOf(fault);
      throw fault;
    }
  }

  /** Says what is missing, if the disk lets it, and gives the file free. */
  async close(): Promise<void> {
    if (this.#account.hasFailures) await this.#ready().catch(() => {});
    await this.check();
    await this.#close();
    this.#lock?.[Symbol.dispose]();
  }

  /** Looks, and makes the file again at once if it has to be, so that the next change need not be refused; never rejects. */
  async resume(): Promise<void> {
    try {
      await this.#look();
      if (this.#disturbed !== undefined) await this.#ready();
    } catch (error) {
      this.#tellFailed(error);
      await this.#close();
    }
  }

  /** Makes durable what was not synced, and logs the head. */
  async check(): Promise<void> {
    await this.resume();
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
    const wasThere = existsSync(this.#options.path);
    const file = await ChainedFile.open(this.#options, this.#account.last);
    try {
      const { harm, lost, unwritten } = this.#account.missingIn(file, this.#disturbed, wasThere);
      const { torn, intact, plain } = file.finding;
      const found = {
        ...(harm !== undefined && { file: harm }),
        ...(torn > 0 && { torn_bytes: torn }),
        ...(!intact && { intact }),
        ...(plain && { plain }),
        ...(lost > 0 && { lost }),
        ...(unwritten > 0 && { unwritten }),
      };
      const isTelling = Object.keys(found).length > 0;
      if (isTelling) {
        await file.append([this.#resumed(found)]);
        // Only now: on a full disk each call comes here, and none of them goes on.
        const { file: what, ...rest } = found;
        const place = { file: this.#options.path, record: file.head.seq };
        this.#logger.warn("audit file resumed", { ...place, ...(what !== undefined && { found: what }), ...rest });
      }
      // Told now, even if the disk should fail again: otherwise the next record would tell it once more.
      this.#account.confirm(file);
      this.#account.leave(file);
      this.#disturbed = undefined;
      if (isTelling) await file.sync();
    } catch (error) {
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
    this.#account.leave(file);
    await file.close().catch(() => {});
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
