import type { Seams } from "@bridge/ports";
import type { Groups } from "./groups.ts";
import type { Items } from "./items.ts";
import type { Lanes } from "./lanes.ts";
import type { Orders } from "./orders.ts";
import type { Recent } from "./recent.ts";
import type { SpoiledRecords } from "./spoiled-records.ts";
import type { Timeline } from "./timeline.ts";

/** What the methods of a store work with. */
export interface OutboxParts extends Seams {
  readonly items: Items;
  readonly groups: Groups;
  readonly orders: Orders;
  readonly lanes: Lanes;
  readonly spoiled: SpoiledRecords;
  readonly timeline: Timeline;
  /** The keys of records that have been seen lately, by their ids. */
  readonly keys: Recent<string, string>;
  /** When a record was seen first as it is, in monotonic milliseconds; by its key and revision. */
  readonly seenAt: Recent<string, number>;
  /** How long finished records stay as evidence against duplicates, in milliseconds. */
  readonly retentionMs: number;
}
