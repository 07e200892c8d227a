import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { BridgeError, type BridgeErrorOptions } from "@bridge/ports";

/** What can be wrong with a file, whatever is done with it. */
export type Fault =
  | "full"
  | "read_only"
  | "forbidden"
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
  EACCES: "forbidden",
  EPERM: "forbidden",
  EMFILE: "no_descriptors",
  ENFILE: "no_descriptors",
};

/** No file can be there, whatever the disk does. */
const NO_PLACE = ["ENOENT", "ENOTDIR", "EISDIR", "ELOOP", "ENAMETOOLONG", "EINVAL", "ENXIO"];

/** What passes by itself with what is wrong with the disk, or with the process. */
const PASSING: readonly Fault[] = ["full", "read_only", "failing", "no_descriptors"];
/** A disk that could not be used to open a file is worth another try after this time. */
const AGAIN_MS = 1_000;

/** What an open file takes: when one of them was not to be had, the others are free again. */
const DESCRIPTORS = 8;

/** What becomes of the process is not said here: it may run, or be about to end. */
const REMEDIES: Readonly<Record<Fault, string>> = {
  full: "the disk is full: make room",
  read_only: "the disk is read-only: make it writable",
  forbidden: "this user may not use it: let the user that the bridge runs as do that (chown, chmod)",
  busy: "another program holds a lock on the file: close that program",
  damaged: "the file is damaged: check the disk, and restore a copy or move the file away",
  failing: "the disk fails: check it; what was being written does not count",
  no_descriptors: "the process has no file descriptor left: allow it more (ulimit -n, LimitNOFILE=)",
  displaced:
    "the file was deleted or moved away while it was in use: put it back, or restart the bridge to begin a new one",
  disturbed: "its log was deleted or replaced while it is in use, and is written anew: leave the files beside it alone",
  several_names: "has another name, under which a second process could write to it: name a file that has none",
  no_place: "no file can be made there: name another path",
};

/** Why a file cannot be used. */
export class FileFault extends BridgeError {
  readonly fault: Fault;
  /** What it is and what to do, as the end of a sentence that names the file. */
  readonly words: string;

  constructor(path: string, fault: Fault, options: BridgeErrorOptions & { readonly words?: string } = {}) {
    const { words = REMEDIES[fault] + detail(options.cause) } = options;
    super("UNAVAILABLE", `${path}: ${words}`, { ...options, charged: false });
    this.fault = fault;
    this.words = words;
  }

  /** Whether it may pass without anybody changing the file or what is configured: a file that cannot be opened is worth another try. */
  get passes(): boolean {
    return PASSING.includes(this.fault);
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
    if (!(thrown instanceof FileFault) || !thrown.passes) throw thrown;
    const { cause, fault, words } = thrown;
    throw new FileFault(path, fault, { cause, words, retryAfterMs: AGAIN_MS });
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
