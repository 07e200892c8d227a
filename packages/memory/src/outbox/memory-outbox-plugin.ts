import { defineFactory, type OutboxStorePlugin, type PluginContext } from "@bridge/ports";
import { describe, duration, integer } from "@bridge/ports/options";
import * as v from "valibot";
import { openMemoryOutbox } from "./open-memory-outbox.ts";

const options = v.strictObject({
  acknowledge_volatile: describe(
    v.literal(
      true,
      "the memory outbox loses accepted messages on restart: set acknowledge_volatile: true to accept that",
    ),
    "Must be true: you accept that a restart loses accepted messages.",
  ),
  max_records: describe(
    v.optional(integer(1), 100_000),
    "The most records. Finished ones make room for new ones; when none is finished, further messages wait at their source.",
  ),
  retention: describe(
    v.optional(duration(), "1h"),
    "How long finished records are kept, so that duplicates are recognized.",
  ),
});

/** The outbox store `memory`. */
export const memoryOutboxPlugin: OutboxStorePlugin = {
  type: "memory",
  role: "outbox",
  reach: "process",
  ...defineFactory({
    options,
    create:
      ({ max_records, retention }, { clock, random }: PluginContext) =>
      async () =>
        openMemoryOutbox({ maxRecords: max_records, retentionMs: retention, clock, random }),
  }),
};
