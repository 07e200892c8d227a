import type { CallLimit, Seams } from "@bridge/ports";
import type { PostgresClient } from "@bridge/postgres-kit";
import type { Arrivals } from "./arrivals.ts";
import type { Contents } from "./contents.ts";
import type { Instances } from "./instances.ts";
import type { Lanes } from "./lanes.ts";

/** What the methods of a store work with. */
export interface OutboxParts extends Seams {
  readonly client: PostgresClient;
  /** Names this handle among all that claim. */
  readonly claimer: string;
  readonly instances: Instances;
  readonly lanes: Lanes;
  readonly contents: Contents;
  /** How much one claim lends at most, as its records are read in one statement. */
  readonly claims: CallLimit;
  readonly arrivals: Arrivals;
}
