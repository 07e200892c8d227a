import { tableName } from "@bridge/dynamodb";
import { defineFactory, type DlqStore, type DlqStorePlugin, type PluginContext } from "@bridge/ports";
import { describe, positiveDuration } from "@bridge/ports/options";
import * as v from "valibot";
import { openDynamodbDlq } from "./open-dynamodb-dlq.ts";

const options = v.strictObject({
  table_name: describe(
    tableName(),
    "The table, created by `bridge-aws -create-tables`. One for each bridge: its instances share it.",
  ),
  retention: describe(
    v.optional(positiveDuration()),
    "Entries that failed longer ago than this are no longer found. Default: they are kept.",
  ),
});

/** The DLQ store `dynamodb` (spec 1.6). */
export const dynamodbDlqPlugin: DlqStorePlugin = {
  type: "dynamodb",
  role: "dlq",
  reach: "cluster",
  place: (written) => `dynamodb ${(written as v.InferOutput<typeof options>).table_name}`,
  ...defineFactory({
    options,
    create:
      (block, { clock, random, logger }: PluginContext) =>
      (signal): Promise<DlqStore> =>
        openDynamodbDlq({ tableName: block.table_name, retentionMs: block.retention, clock, random, logger }, signal),
  }),
};
