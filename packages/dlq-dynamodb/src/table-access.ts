import type { DynamoClient } from "@bridge/dynamodb";
import type { Clock, Random } from "@bridge/ports";
import type { Parts } from "./parts.ts";

/** What changes of items need. */
export interface TableAccess {
  readonly client: DynamoClient;
  readonly tableName: string;
  /** Entries that failed before are not there. */
  readonly visibleFrom: () => number;
  readonly parts: Parts;
  readonly clock: Clock;
  /** The service's time, in epoch milliseconds: what instances agree on. */
  readonly serviceNow: () => number;
  readonly random: Random;
}
