import type { DatabaseSync } from "node:sqlite";
import type { UnreadableRow } from "./unreadable-row.ts";

/** What a kind of store writes into its files, and what it tells of them. */
export interface FileKind {
  /** For messages: "DLQ", "outbox". */
  readonly name: string;
  /** How to make room in a file that is as large as it may be: "redrive or delete entries". */
  readonly remedy: string;
  /** In the header of each file, so that a file of another program or of another kind is never taken for ours. */
  readonly applicationId: number;
  /** SQL that leads from schema version n to n + 1. A step that has been released never changes. */
  readonly migrations: readonly string[];
  /**
   * Makes rows readable into which somebody has put what the statements cannot read. It is done each time that a file is opened, and when
   * such a row was `met` in an open one.
   */
  readonly mend?: (db: DatabaseSync, met?: UnreadableRow) => void;
  /** The oldest schema whose files are brought to the newest one; older ones are refused. Default: all. */
  readonly readsFrom?: number;
  /** Pages of the file that are kept in memory, in KiB. Default: 16 MiB. */
  readonly cacheKib?: number;
}
