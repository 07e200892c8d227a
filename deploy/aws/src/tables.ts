import type { KeyAttribute, TableDescription, TableIndex } from "@bridge/dynamodb";
import { type Attribute, AttributeType, BillingMode, ProjectionType, Table } from "aws-cdk-lib/aws-dynamodb";
import { RemovalPolicy } from "aws-cdk-lib/core";
import type { Construct } from "constructs";

const TYPES = { S: AttributeType.STRING, N: AttributeType.NUMBER, B: AttributeType.BINARY } as const;

/**
 * A table as its store describes it. Its rows outlive the stack: they are messages, and who may send them. Deleting one is
 * an act of its own, and for 35 days it can be undone.
 */
export function tableOf(scope: Construct, id: string, description: TableDescription): Table {
  const { name, key, indexes, ttlAttribute } = description;
  const table = new Table(scope, id, {
    tableName: name,
    ...keyOf(key),
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: true,
    removalPolicy: RemovalPolicy.RETAIN,
    ...(ttlAttribute !== undefined && { timeToLiveAttribute: ttlAttribute }),
  });
  for (const index of indexes) {
    table.addGlobalSecondaryIndex({ indexName: index.name, ...keyOf(index.key), ...projectionOf(index) });
  }
  return table;
}

function keyOf({ partition, sort }: TableDescription["key"]) {
  return { partitionKey: attributeOf(partition), ...(sort !== undefined && { sortKey: attributeOf(sort) }) };
}

function attributeOf({ name, type }: KeyAttribute): Attribute {
  return { name, type: TYPES[type] };
}

function projectionOf({ projection }: TableIndex) {
  if (projection === "all") return { projectionType: ProjectionType.ALL };
  if (projection === "keys") return { projectionType: ProjectionType.KEYS_ONLY };
  return { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...projection] };
}
