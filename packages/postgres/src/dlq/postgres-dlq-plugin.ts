import { defineFactory, type DlqStore, type DlqStorePlugin, type PluginContext } from "@bridge/ports";
import { describe, positiveDuration } from "@bridge/ports/options";
import { postgresOptions } from "../client/connection-options.ts";
import { postgresPlace } from "../client/postgres-place.ts";
import { tableMaker } from "../client/table-maker.ts";
import * as v from "valibot";
import { DLQ_TABLES } from "./dlq-tables.ts";
import { openPostgresDlq } from "./open-postgres-dlq.ts";

const options = postgresOptions({
  retention: describe(
    v.optional(positiveDuration()),
    "Entries that failed longer ago than this are no longer found, and are deleted within a minute. Default: they are kept.",
  ),
});

/** The DLQ store `postgres` (spec 1.6). */
export const postgresDlqPlugin: DlqStorePlugin = {
  type: "postgres",
  role: "dlq",
  reach: "cluster",
  place: (written) => postgresPlace("dlq", written as v.InferOutput<typeof options>),
  createTables: tableMaker(DLQ_TABLES),
  ...defineFactory({
    options,
    create:
      ({ retention, ...connection }, { clock, random, logger }: PluginContext) =>
      (signal): Promise<DlqStore> =>
        openPostgresDlq({ connection, retentionMs: retention, clock, random, logger }, signal),
  }),
};
