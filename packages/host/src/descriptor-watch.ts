import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import type { Clock, Logger } from "@bridge/ports";

/** So often it is looked whether there is one left. */
const LOOK_MS = 1_000;
/** It is told at most this often. */
const TELL_MS = 60_000;
/** Of the process, and of the machine. */
const EXHAUSTED = ["EMFILE", "ENFILE"];

/** Looks whether the process can still open a file. Disposing it ends the looks. */
export interface DescriptorWatch extends Disposable {
  look(): void;
}

export interface DescriptorWatchOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes a file descriptor and gives it back, or throws. Default: of the null device. */
  readonly take?: () => void;
}

/**
 * Tells when the process has no file descriptor left. Nothing else does: the platform closes connections then that it
 * cannot take, without an event, and what fails for want of one looks like a fault of a disk or of a network.
 */
export function watchDescriptors({ clock, logger, take = takeOne }: DescriptorWatchOptions): DescriptorWatch {
  let out = false;
  let toldAt = -Infinity;
  const look = (): void => {
    const code = exhaustion(take);
    if (code === undefined) {
      if (out) logger.info("there are file descriptors again");
      out = false;
      return;
    }
    if (out || clock.monotonic() - toldAt < TELL_MS) return;
    out = true;
    toldAt = clock.monotonic();
    const where = code === "EMFILE" ? "the process has" : "the machine has";
    const remedy = "allow more (ulimit -n, LimitNOFILE=, --ulimit nofile=), or fewer connections";
    logger.error(`${where} no file descriptor left: nobody can connect, and no file can be opened: ${remedy}`, {
      code,
    });
  };
  const looks = clock.every(LOOK_MS, look);
  return { look, [Symbol.dispose]: () => looks[Symbol.dispose]() };
}

/** What else is wrong with the null device says nothing about descriptors. */
function exhaustion(take: () => void): string | undefined {
  try {
    take();
    return undefined;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return EXHAUSTED.includes(code) ? code : undefined;
  }
}

function takeOne(): void {
  closeSync(openSync(devNull, "r"));
}
