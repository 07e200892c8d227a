import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { BridgeError, type BridgeErrorOptions } from "@bridge/ports";

/** What can be wrong with a file, whatever is done with it. */
export type Fault =
  | "full"
  | "read_only"
  | "busy"
  | "damaged"
  | "failing"
  | "no_descriptors"
  | "displaced"
  | "disturbed"
  | "no_place"
  | "several_names";

const SQLITE_CANTOPEN = 14;

const BY_SQLITE_CODE: Readonly<Record<number, Fault>> = {
  5: "busy", // SQLITE_BUSY
  6: "busy", // SQLITE_LOCKED
  7: "failing", // SQLITE_NOMEM
  8: "read_only", // SQLITE_READONLY
  10: "failing", // SQLITE_IOERR
  11: "damaged", // SQLITE_CORRUPT
  13: "full", // SQLITE_FULL
  [SQLITE_CANTOPEN]: "failing",
  15: "failing", // SQLITE_PROTOCOL
  26: "damaged", // SQLITE_NOTADB
};

const BY_SYSTEM_CODE: Readonly<Record<string, Fault>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EROFS: "read_only",
  EACCES: "read_only",
  EPERM: "read_only",
  EMFILE: "no_descriptors",
  ENFILE: "no_descriptors",
};

/** No file can be there, whatever the disk does. */
const NO_PLACE = ["ENOENT", "ENOTDIR", "EISDIR", "ELOOP", "ENAMETOOLONG", "EINVAL", "ENXIO"];

/** What passes by itself with what is wrong with the disk, or with the process. */
const PASSING: readonly Fault[] = ["full", "read_only", "failing", "no_descriptors"];
/** A permission is wrong until somebody changes it. */
const FORBIDDEN = ["EACCES", "EPERM"];
/** A disk that could not be used to open a file is worth another try after this time. */
const AGAIN_MS = 1_000;

/** What an open file takes: when one of them was not to be had, the others are free again. */
const DESCRIPTORS = 8;

/** True of a process that could not start, too. */
const REMEDIES: Readonly<Record<Fault, string>> = {
  full: "the disk is full: make room; a bridge that runs goes on by itself",
  read_only: "the disk, the folder or the file is read-only: make it writable; a bridge that runs goes on by itself",
  busy: "another program holds a lock on the file: close that program",
  damaged: "the file is damaged: check the disk, and restore a copy or move the file away",
  failing: "the disk fails: check it; what was being written does not count, and a bridge that runs tries again",
  no_descriptors: "the process has no file descriptor left: allow it more (ulimit -n, LimitNOFILE=)",
  displaced:
    "the file was deleted or moved away while it was in use: put it back, or restart the bridge to begin a new one",
  disturbed: "its log was deleted or replaced while it is in use, and is written anew: leave the files beside it alone",
  several_names: "it has another name, under which a second process could write to it with a log of its own",
  no_place: "no file can be made there: name another path",
};

/** Why a file cannot be used. */
export class FileFault extends BridgeError {
  readonly fault: Fault;

  constructor(path: string, fault: Fault, options?: BridgeErrorOptions) {
    super("UNAVAILABLE", `${path}: ${REMEDIES[fault]}${detail(options?.cause)}`, { ...options, charged: false });
    this.fault = fault;
  }

  /** What `thrown` says about the file at `path`; `undefined` when it is about something else. */
  static of(path: string, thrown: unknown): FileFault | undefined {
    if (thrown instanceof FileFault) return thrown;
    const fault = faultOf(thrown);
    return fault === undefined ? undefined : new FileFault(path, fault, { cause: thrown });
  }
}

/**
 * Opens a file, or takes a step towards that. What the disk is at fault for says when to try again, because the file can be
 * opened when the disk is well again; all else somebody has to see to.
 *
 * Throws what `open` throws.
 */
export function opening<Opened>(path: string, open: () => Opened): Opened {
  try {
    return open();
  } catch (thrown) {
    if (!(thrown instanceof FileFault) || !PASSING.includes(thrown.fault)) throw thrown;
    const { cause, fault } = thrown;
    if (FORBIDDEN.includes((cause as NodeJS.ErrnoException | undefined)?.code ?? "")) throw thrown;
    throw new FileFault(path, fault, { cause, retryAfterMs: AGAIN_MS });
  }
}

/** Errors of SQLite and of the system; `undefined` for all others, those of a wrong statement too. */
function faultOf(thrown: unknown): Fault | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code, errcode } = thrown as { readonly code?: unknown; readonly errcode?: unknown };
  // The low byte is the kind of error, the rest says where it happened.
  if (typeof errcode === "number")
    return isForWantOfDescriptors(errcode) ? "no_descriptors" : BY_SQLITE_CODE[errcode & 0xff];
  if (typeof code !== "string" || !("syscall" in thrown)) return undefined;
  return BY_SYSTEM_CODE[code] ?? (NO_PLACE.includes(code) ? "no_place" : "failing");
}

/** SQLite does not say why it could not open a file. */
function isForWantOfDescriptors(errcode: number): boolean {
  if ((errcode & 0xff) !== SQLITE_CANTOPEN) return false;
  const taken: number[] = [];
  try {
    while (taken.length < DESCRIPTORS) taken.push(openSync(devNull, "r"));
    return false;
  } catch (error) {
    return BY_SYSTEM_CODE[(error as NodeJS.ErrnoException).code ?? ""] === "no_descriptors";
  } finally {
    for (const handle of taken) closeSync(handle);
  }
}

function detail(cause: unknown): string {
  if (!(cause instanceof Error)) return "";
  const { errcode } = cause as { readonly errcode?: unknown };
  return ` (${cause.message}${typeof errcode === "number" ? `, SQLite ${errcode}` : ""})`;
}
