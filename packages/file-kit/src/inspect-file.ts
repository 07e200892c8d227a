import { closeSync, openSync, readSync, statSync } from "node:fs";
import { BridgeError } from "@bridge/ports";
import { FileFault } from "./file-fault.ts";
import type { FileKind } from "./file-kind.ts";

const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;

/**
 * Looks at the header of a file before anything may change it. Schema versions are only ever raised in the file
 * itself, never in its log, so that the header tells the truth.
 *
 * Throws a {@link BridgeError} for a file that is another program's or of a newer schema, and a {@link FileFault}
 * `damaged` for a log whose file is gone.
 */
export function inspectFile(path: string, kind: FileKind): "absent" | "ours" {
  const header = readHeader(path);
  if (header.length === 0) {
    if (sizeOf(`${path}-wal`) > 0) throw new FileFault(path, "damaged");
    return "absent";
  }
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, MAGIC.length) !== MAGIC) throw foreign(path, kind);
  if (header.readUInt32BE(APPLICATION_ID_AT) !== kind.applicationId) throw foreign(path, kind);
  const version = header.readUInt32BE(USER_VERSION_AT);
  if (version > kind.migrations.length) {
    throw refusal(
      `${path} was written by a newer release (schema ${version}, this one knows ${kind.migrations.length}): ` +
        "run that release, or name another path",
    );
  }
  return "ours";
}

function readHeader(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function foreign(path: string, kind: FileKind): BridgeError {
  return refusal(`${path} is there and is no ${kind.name} file of the bridge: move it away, or name another path`);
}

function refusal(message: string): BridgeError {
  return new BridgeError("UNAVAILABLE", message, { charged: false });
}
