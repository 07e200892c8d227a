import { defineFactory, type OutboxStorePlugin, type PluginContext } from "@bridge/ports";
import { describe, duration } from "@bridge/ports/options";
import { postgresOptions } from "../client/connection-options.ts";
import { postgresPlace } from "../client/postgres-place.ts";
import { tableMaker } from "../client/table-maker.ts";
import * as v from "valibot";
import { OUTBOX_MIGRATIONS } from "./outbox-tables.ts";
import { openPostgresOutbox } from "./open-postgres-outbox.ts";

const options = postgresOptions({
  retention: describe(
    v.optional(duration(), "1h"),
    "How long finished records are kept, so that duplicates are recognized.",
  ),
});

/** The outbox store `postgres`. */
export const postgresOutboxPlugin: OutboxStorePlugin = {
  type: "postgres",
  role: "outbox",
  reach: "cluster",
  place: (written) => postgresPlace("outbox", written as v.InferOutput<typeof options>),
  createTables: tableMaker(OUTBOX_MIGRATIONS),
  ...defineFactory({
    options,
    create:
      ({ retention, ...connection }, { clock, random, logger }: PluginContext) =>
      (signal) =>
        openPostgresOutbox({ connection, retentionMs: retention, clock, random, logger }, signal),
  }),
};
