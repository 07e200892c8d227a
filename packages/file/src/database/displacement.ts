import { BridgeError, type Clock, type Logger } from "@bridge/ports";
import { carryLogOver } from "./connection.ts";
import { FileFault } from "./file-fault.ts";
import { obstacleAt } from "./obstacle.ts";
import type { OpenedFile } from "./open-or-create.ts";
import type { RecoveringFile } from "./recovering-file.ts";

/** Looks whether an open file is in its place and whole, and keeps what it holds when it is not. */
export class Displacement<Statements> {
  readonly #file: RecoveringFile<Statements>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #found: BridgeError | undefined;
  /** Whether that is because the file is elsewhere, or nowhere. */
  #isLeft = false;
  /** As what the log of the file was set aside, when that was gone. */
  #logAside: string | undefined;

  constructor(file: RecoveringFile<Statements>, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#file = file;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Why nothing new is taken: the file is not where it was opened. */
  get found(): BridgeError | undefined {
    return this.#found;
  }

  /**
   * Why what was written to the file would be gone with this process, or is: a {@link FileFault} when the file has to be
   * opened again, which writes a log anew that was deleted, and says what is to become of a file that was harmed.
   */
  of(file: OpenedFile<Statements>, which: "written" | "all"): BridgeError | undefined {
    if (this.#logAside !== undefined && which === "all") this.#putBackLog(file, this.#logAside);
    const displaced = file.place.displaced(which);
    if (displaced === "hidden") return this.#hidden(file);
    if (displaced === "file") return this.#leaveBehind(file);
    // Only a look at all of it says that all of it is there.
    if (this.#found !== undefined && which === "written") return this.#found;
    if (this.#found !== undefined) this.#logger.warn("the file is back in its place", { file: file.path });
    this.#found = undefined;
    this.#isLeft = false;
    return displaced === "log" ? new FileFault(file.path, "disturbed") : harmTo(file, which);
  }

  /** For what is to be written: behind the end of a log that was cut off, the next group would hide that. */
  unharmed(): OpenedFile<Statements> {
    const file = this.#file.open();
    const harm = harmTo(file, "written");
    if (harm !== undefined) throw harm;
    return file;
  }

  /**
   * What the file holds has to be whole without its log, which is set aside: the file may be moved back after this process
   * has ended.
   */
  carryLogOver(): void {
    if (this.#logAside === undefined) return;
    try {
      carryLogOver(this.#file.open());
    } catch (error) {
      this.#logger.warn("what the log of the file that is gone holds was not brought into the file", {
        file: this.#file.path,
        set_aside: this.#logAside,
        error: String(error),
      });
    }
  }

  /** Somebody has taken the folder from this user: the file may be where it was, and is not closed. */
  #hidden({ path }: OpenedFile<Statements>): BridgeError {
    const { message } = obstacleAt(path) ?? new FileFault(path, "forbidden");
    if (this.#found?.message !== message) {
      this.#logger.error("the file cannot be looked at: nothing new is taken", { file: path, error: message });
      this.#found = new BridgeError("UNAVAILABLE", message, { charged: false });
    }
    return this.#found;
  }

  /** What is in the file is still read and delivered; its log must not be taken for that of another one in its place. */
  #leaveBehind({ path, place, mark }: OpenedFile<Statements>): BridgeError {
    if (this.#isLeft && this.#found !== undefined) return this.#found;
    this.#isLeft = true;
    const error = (this.#found = new BridgeError(
      "UNAVAILABLE",
      `${path} (or its lock) was deleted, moved away or replaced while it is in use: nothing new is taken. ` +
        "Put it back, or let what it holds be delivered or redriven from here and restart the bridge then",
      { charged: false },
    ));
    const fields = { file: path };
    this.#logger.error("the file is not in its place any more: what is in it ends with this process", fields);
    if (place.has("")) return error;
    try {
      mark.clear();
      if (place.has("-wal")) this.#logAside = this.#file.damaged.setAside(this.#clock.now(), ["-wal"]);
      this.carryLogOver();
      this.#file.damaged.look();
    } catch (thrown) {
      this.#logger.warn("the log of the file that is gone was not set aside: delete it", {
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
      this.#logger.warn("the log of the file that is back was not put back: it stays set aside", {
        file: path,
        set_aside: aside,
        error: String(error),
      });
    }
  }
}

/** Somebody has cut off what was written, or written over it. */
function harmTo<Statements>(
  { path, contents }: OpenedFile<Statements>,
  which: "written" | "all",
): FileFault | undefined {
  const harm = contents.harmToLog() ?? contents.harmToFile(which);
  return harm === undefined ? undefined : new FileFault(path, "damaged", { cause: new Error(harm) });
}
