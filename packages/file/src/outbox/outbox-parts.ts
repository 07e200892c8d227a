import type { FileDatabase } from "../database/file-database.ts";
import type { Clock } from "@bridge/ports";
import type { Lanes } from "./lanes.ts";
import type { Loans } from "./loans.ts";
import type { OutboxStatements } from "./outbox-statements.ts";
import type { SpoiledRecords } from "./spoiled-records.ts";
import type { Window } from "./window.ts";

/** What the operations of an outbox work on: the file, and what is in memory of it. */
export interface OutboxParts {
  readonly file: FileDatabase<OutboxStatements>;
  readonly lanes: Lanes;
  readonly loans: Loans;
  readonly window: Window;
  readonly spoiledRecords: SpoiledRecords;
  readonly clock: Clock;
}
