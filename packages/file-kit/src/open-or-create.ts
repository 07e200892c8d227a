import type { Clock, Logger } from "@bridge/ports";
import { type Connection, openConnection } from "./connection.ts";
import { createFile } from "./create-file.ts";
import type { DamagedFiles } from "./damaged-files.ts";
import { FileFault } from "./file-fault.ts";
import type { FileKind } from "./file-kind.ts";
import { inspectFile } from "./inspect-file.ts";

export interface OpeningOptions {
  readonly kind: FileKind;
  /** What is done with a damaged file of ours: set it aside and begin a new one, or refuse to work. */
  readonly onDamage: "quarantine" | "refuse";
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Opens the file at `path`, whose lock is held, or creates it. `damaged` says that it is already known to be so.
 *
 * Throws a `BridgeError`.
 */
export function openOrCreate(
  path: string,
  options: OpeningOptions,
  damaged: boolean,
  damagedFiles: DamagedFiles,
): Connection {
  const { kind, onDamage, clock, logger } = options;
  try {
    if (damaged) throw new FileFault(path, "damaged");
    return open(path, kind);
  } catch (thrown) {
    const fault = FileFault.of(path, thrown);
    if (fault?.fault !== "damaged") throw fault ?? thrown;
    if (onDamage === "refuse") throw fault;
    const aside = damagedFiles.setAside(clock.now());
    logger.error("a damaged file was set aside and a new one begun: what it holds is in the new one no more", {
      file: path,
      set_aside: aside,
      store: kind.name,
      error: fault.message,
    });
    return open(path, kind);
  }
}

function open(path: string, kind: FileKind): Connection {
  if (inspectFile(path, kind) === "absent") createFile(path, kind);
  return openConnection(path, kind);
}
