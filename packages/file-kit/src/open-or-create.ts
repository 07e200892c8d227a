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

/** What is known of a file that is opened. */
export interface FormerFile {
  /** It is damaged: something in it could not be read. */
  readonly damaged: boolean;
  /** This process has had it open: that it is not there now does not make it a new one. */
  readonly known: boolean;
}

/**
 * Opens the file at `path`, whose lock is held, or creates it.
 *
 * Throws a `BridgeError`.
 */
export function openOrCreate(
  path: string,
  options: OpeningOptions,
  { damaged, known }: FormerFile,
  damagedFiles: DamagedFiles,
): Connection {
  const { kind, onDamage, clock, logger } = options;
  try {
    if (damaged) throw new FileFault(path, "damaged");
    return open(path, kind, known);
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
    return open(path, kind, false);
  }
}

function open(path: string, kind: FileKind, known: boolean): Connection {
  if (inspectFile(path, kind) === "absent") {
    if (known) throw new FileFault(path, "displaced");
    createFile(path, kind);
  }
  return openConnection(path, kind);
}
