import { tableName } from "../client/table-description.ts";
import { defineFactory, type OutboxStorePlugin, type PluginContext } from "@bridge/ports";
import { describe, duration } from "@bridge/ports/options";
import * as v from "valibot";
import { openDynamodbOutbox } from "./open-dynamodb-outbox.ts";

const options = v.strictObject({
  table_name: describe(tableName(), "The table; region, endpoint and credentials are those of the AWS SDK."),
  retention: describe(
    v.optional(duration(), "1h"),
    "How long finished records are kept, so that duplicates are recognized.",
  ),
});

/** The outbox store `dynamodb`. */
export const dynamodbOutboxPlugin: OutboxStorePlugin = {
  type: "dynamodb",
  role: "outbox",
  reach: "cluster",
  place: (written) => `dynamodb ${(written as v.InferOutput<typeof options>).table_name}`,
  ...defineFactory({
    options,
    create:
      ({ table_name, retention }, { clock, random, logger }: PluginContext) =>
      (signal) =>
        openDynamodbOutbox({ tableName: table_name, retentionMs: retention, clock, random, logger }, signal),
  }),
};
