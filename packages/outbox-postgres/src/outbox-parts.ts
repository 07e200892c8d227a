import type { CallLimit, Seams } from "@bridge/ports";
import type { PostgresClient } from "@bridge/postgres-kit";
import type { Arrivals } from "./arrivals.ts";
import type { Contents } from "./contents.ts";
import type { Places } from "./places.ts";

/** What the methods of a store work with. */
export interface OutboxParts extends Seams {
  readonly client: PostgresClient;
  readonly places: Places;
  readonly contents: Contents;
  /** How much one claim lends at most, as its records are read in one statement. */
  readonly claims: CallLimit;
  readonly arrivals: Arrivals;
}
