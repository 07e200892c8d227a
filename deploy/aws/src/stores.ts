import { configTable } from "@bridge/config-dynamodb";
import { leaseTable } from "@bridge/lease-dynamodb";
import type { TableDescription } from "@bridge/dynamodb-kit";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import type { Deployment } from "./deployment.ts";
import { tableOf } from "./tables.ts";

/** What a table is for, in the words of the configuration. */
export type StoreRole = "config" | "lease";

export interface Store {
  readonly role: StoreRole;
  readonly description: TableDescription;
  readonly table: Table;
}

interface Kind {
  readonly describe: (name: string) => TableDescription;
  /** The operations that the store uses once its table is there; a test holds them against its sources. */
  readonly operations: readonly string[];
}

/** Each store and its table, as the packages of the stores describe it. */
export const STORES: Readonly<Record<StoreRole, Kind>> = {
  config: {
    describe: configTable,
    operations: ["DescribeTable", "GetItem", "PutItem", "DeleteItem", "Query"],
  },
  lease: { describe: leaseTable, operations: ["DescribeTable", "GetItem", "PutItem"] },
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
