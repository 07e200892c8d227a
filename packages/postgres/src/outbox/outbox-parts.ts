import type { Seams } from "@bridge/ports";
import type { CallLimit } from "@bridge/ports/internal";
import type { PostgresClient } from "../client/postgres-client.ts";
import type { Arrivals } from "./arrivals.ts";
import type { Contents } from "./contents.ts";
import type { Places } from "./places.ts";
import type { SpoiledRecords } from "./spoiled-records.ts";

/** What the methods of a store work with. */
export interface OutboxParts extends Seams {
  readonly client: PostgresClient;
  readonly places: Places;
  readonly contents: Contents;
  /** How much one claim lends at most, as its records are read in one statement. */
  readonly claims: CallLimit;
  readonly arrivals: Arrivals;
  readonly spoiled: SpoiledRecords;
}
