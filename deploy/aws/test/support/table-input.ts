import type { CreateTableInput } from "@aws-sdk/client-dynamodb";
import type { Synthesized } from "./synthesized.ts";

/** What makes a table of the template, as far as an emulator knows it. */
export function creationOf(stack: Synthesized, name: string): CreateTableInput {
  const table = stack
    .resources("AWS::DynamoDB::Table")
    .find(({ Properties: { TableName } }) => TableName === name)?.Properties;
  const { TableName, AttributeDefinitions, KeySchema, BillingMode, GlobalSecondaryIndexes } =
    table as unknown as CreateTableInput;
  return { TableName, AttributeDefinitions, KeySchema, BillingMode, GlobalSecondaryIndexes };
}
