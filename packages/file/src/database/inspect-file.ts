import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { BridgeError } from "@bridge/ports";
import { FileFault } from "./file-fault.ts";
import type { FileKind } from "./file-kind.ts";
import { inspectLog } from "./inspect-log.ts";
import { isSpoiled, readMark, wasWritten } from "./log-mark.ts";

const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;
const SPOILED =
  "it was written over while a bridge had it in use: to use it as it is, delete the files beside it that end in -wal and -mark";

/**
 * Looks at the header of a file, and at its log, before anything may change them. Schema versions are only ever raised in the file
 * itself, never in its log, so that the header tells the truth.
 *
 * Throws a {@link BridgeError} for a file that is another program's or of a newer schema, and a {@link FileFault}
 * `damaged` for a log whose file is gone, for one of which confirmed writes cannot be read any more, and for a file that
 * has become empty or was written over while it was in use.
 */
export function inspectFile(path: string, kind: FileKind): "absent" | "older" | "ours" {
  const header = readStart(path, HEADER_BYTES);
  if (header.length === 0) {
    if (readStart(`${path}-wal`, 1).length > 0)
      throw new FileFault(path, "damaged", { cause: new Error("it has a log, and is empty itself") });
    // We never leave an empty file: it is made beside its place, and renamed when it is whole.
    if (existsSync(path) && wasWritten(path))
      throw new FileFault(path, "damaged", { cause: new Error("it is empty, and was written to before") });
    return "absent";
  }
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, MAGIC.length) !== MAGIC) throw foreign(path, kind);
  if (header.readUInt32BE(APPLICATION_ID_AT) !== kind.applicationId) throw foreign(path, kind);
  const version = header.readUInt32BE(USER_VERSION_AT);
  // It is written with the schema itself.
  if (version === 0) throw new FileFault(path, "damaged", { cause: new Error("its header names no schema") });
  if (version > kind.migrations.length) {
    throw refusal(
      `${path} was written by a newer release (schema ${version}, this one knows ${kind.migrations.length}): ` +
        "run that release, or name another path",
    );
  }
  const { readsFrom = 1 } = kind;
  if (version < readsFrom) {
    throw refusal(
      `${path} was written by an older build (schema ${version}, this one reads from ${readsFrom} on): ` +
        `${kind.remedy} with that build, or name another path`,
    );
  }
  const mark = readMark(path);
  if (isSpoiled(mark)) throw new FileFault(path, "damaged", { cause: new Error(SPOILED) });
  inspectLog(path, mark);
  return version < kind.migrations.length ? "older" : "ours";
}

/** As much as there is of the first bytes of a file. */
function readStart(path: string, bytes: number): Buffer {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
  try {
    const start = Buffer.alloc(bytes);
    return start.subarray(0, readSync(file, start, 0, bytes, 0));
  } finally {
    closeSync(file);
  }
}

function foreign(path: string, kind: FileKind): BridgeError {
  return refusal(`${path} is there and is no ${kind.name} file of the bridge: move it away, or name another path`);
}

function refusal(message: string): BridgeError {
  return new BridgeError("UNAVAILABLE", message, { charged: false });
}
