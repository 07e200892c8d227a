import type { DatabaseSync } from "node:sqlite";
import type { Clock, Logger } from "@bridge/ports";
import { type Connection, openConnection } from "./connection.ts";
import { createFile } from "./create-file.ts";
import type { DamagedFiles } from "./damaged-files.ts";
import { FileFault } from "./file-fault.ts";
import type { FileKind } from "./file-kind.ts";
import { inspectFile } from "./inspect-file.ts";
import { wasWritten } from "./log-mark.ts";
import { faultAt, obstacleAt } from "./obstacle.ts";
import type { OpenFile } from "./transaction.ts";

/** SQL that SQLite cannot carry out: a table or a column is not there, or the format of the file is not known. */
const SQLITE_ERROR = 1;

export interface OpeningOptions<Statements> {
  readonly kind: FileKind;
  /** What is done with a damaged file of ours: set it aside and begin a new one, or refuse to work. */
  readonly onDamage: "quarantine" | "refuse";
  /** Called each time the file has been opened: at first, and after it has failed. */
  readonly prepare: (db: DatabaseSync) => Statements;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is known of a file that is opened. */
export interface FormerFile {
  /** How this process has found it damaged. */
  readonly damage: FileFault | undefined;
  /** This process has had it open: that it is not there now does not make it a new one. */
  readonly known: boolean;
}

export interface OpenedFile<Statements> extends OpenFile<Statements>, Connection {}

/**
 * Opens the file at `path`, whose lock is held, or creates it.
 *
 * Throws a `BridgeError`.
 */
export function openOrCreate<Statements>(
  path: string,
  options: OpeningOptions<Statements>,
  { damage, known }: FormerFile,
  damagedFiles: DamagedFiles,
): OpenedFile<Statements> {
  const { onDamage, clock, logger } = options;
  try {
    if (damage !== undefined) throw damage;
    return open(path, options, known);
  } catch (thrown) {
    const fault = faultAt(path, thrown);
    if (fault?.fault !== "damaged") throw fault ?? thrown;
    if (onDamage === "refuse") throw fault;
    const aside = damagedFiles.setAside(clock.now());
    logger.error("a damaged file was set aside and a new one begun: what it holds is in the new one no more", {
      file: path,
      set_aside: aside,
      error: fault.message,
    });
    return open(path, options, false);
  }
}

function open<Statements>(
  path: string,
  { kind, prepare, logger }: OpeningOptions<Statements>,
  known: boolean,
): OpenedFile<Statements> {
  // SQLite opens what it may not write to all the same, and makes a log that nobody may write to, either.
  const obstacle = obstacleAt(path);
  if (obstacle !== undefined) throw obstacle;
  const found = inspectFile(path, kind);
  if (found === "absent") {
    if (known) throw new FileFault(path, "displaced");
    if (wasWritten(path))
      logger.warn("the file is gone and a new one is begun: what it held is not in the new one", { file: path });
    createFile(path, kind);
  }
  try {
    const connection = openConnection(path, kind);
    try {
      return { ...connection, path, statements: prepare(connection.db) };
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    throw (found === "ours" ? damageOf(path, error) : undefined) ?? error;
  }
}

/** In a file that says that it is ours, of this schema, every statement is right: what SQLite takes for a wrong one is damage. */
function damageOf(path: string, thrown: unknown): FileFault | undefined {
  const { errcode } = thrown as { readonly errcode?: unknown };
  return errcode === SQLITE_ERROR ? new FileFault(path, "damaged", { cause: thrown }) : undefined;
}
