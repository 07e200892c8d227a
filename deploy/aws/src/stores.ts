import { configTable, leaseTable, outboxTable, type TableDescription } from "@bridge/dynamodb";
import { dlqTable } from "@bridge/dlq-dynamodb";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import type { Deployment } from "./deployment.ts";
import { tableOf } from "./tables.ts";

/** What a table is for, in the words of the configuration. */
export type StoreRole = "config" | "dlq" | "lease" | "outbox";

export interface Store {
  readonly role: StoreRole;
  readonly description: TableDescription;
  readonly table: Table;
}

interface Kind {
  readonly describe: (name: string) => TableDescription;
  /** The operations that the store uses once its table is there, but for queries. A test holds them against its sources. */
  readonly operations: readonly string[];
  readonly queries: "table" | "indexes" | "none";
}

/** Each store and its table, as the packages of the stores describe it. */
export const STORES: Readonly<Record<StoreRole, Kind>> = {
  config: {
    describe: configTable,
    operations: ["DescribeTable", "GetItem", "PutItem", "DeleteItem"],
    queries: "table",
  },
  dlq: {
    describe: dlqTable,
    operations: ["DescribeTable", "GetItem", "PutItem", "UpdateItem"],
    queries: "indexes",
  },
  lease: { describe: leaseTable, operations: ["DescribeTable", "GetItem", "PutItem"], queries: "none" },
  outbox: {
    describe: outboxTable,
    operations: ["DescribeTable", "GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"],
    queries: "indexes",
  },
};

/** `bridge-plant-7-dlq`: what the configuration gives as `table_name`. */
export function tableNameOf({ bridge_id }: Pick<Deployment, "bridge_id">, role: StoreRole): string {
  return `bridge-${bridge_id}-${role}`;
}

export function storesOf(scope: Construct, deployment: Deployment): readonly Store[] {
  return (Object.keys(STORES) as StoreRole[]).map((role) => {
    const description = STORES[role].describe(tableNameOf(deployment, role));
    return { role, description, table: tableOf(scope, `Table-${role}`, description) };
  });
}
