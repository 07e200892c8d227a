import { tableName } from "../client/table-description.ts";
import { defineFactory, type LeaseStore, type LeaseStorePlugin, type PluginContext } from "@bridge/ports";
import { describe } from "@bridge/ports/options";
import * as v from "valibot";
import { openDynamodbLeases } from "./open-dynamodb-leases.ts";

const options = v.strictObject({
  table_name: describe(
    tableName(),
    "The table, created by `bridge-aws -create-tables`. Bridges of different ids may share one.",
  ),
});

/** The lease store `dynamodb`. */
export const dynamodbLeasePlugin: LeaseStorePlugin = {
  type: "dynamodb",
  role: "lease",
  reach: "cluster",
  ...defineFactory({
    options,
    create:
      (block, { clock, random, logger }: PluginContext) =>
      (signal): Promise<LeaseStore> =>
        openDynamodbLeases({ tableName: block.table_name, clock, random, logger }, signal),
  }),
};
