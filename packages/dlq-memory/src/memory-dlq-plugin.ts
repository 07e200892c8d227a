import { defineFactory, type DlqStore, type DlqStorePlugin, type PluginContext } from "@bridge/ports";
import { describe, integer } from "@bridge/ports/options";
import * as v from "valibot";
import { openMemoryDlq } from "./open-memory-dlq.ts";

const options = v.strictObject({
  acknowledge_volatile: describe(
    v.literal(true, "the memory DLQ loses its entries on restart: set acknowledge_volatile: true to accept that"),
    "Must be true: you accept that a restart loses all entries.",
  ),
  max_entries: describe(
    v.optional(integer(1), 100_000),
    "The most entries, including those that a purge can still give back. At this number further writes fail until some are redriven or deleted.",
  ),
});

/** The DLQ store `memory` (spec 1.6). */
export const memoryDlqPlugin: DlqStorePlugin = {
  type: "memory",
  role: "dlq",
  reach: "process",
  ...defineFactory({
    options,
    create:
      ({ max_entries }, { clock }: PluginContext) =>
      async (): Promise<DlqStore> =>
        openMemoryDlq({ maxEntries: max_entries, clock }),
  }),
};
