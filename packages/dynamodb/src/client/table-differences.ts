import type {
  AttributeDefinition,
  KeySchemaElement,
  Projection,
  TableDescription as ActualTable,
} from "@aws-sdk/client-dynamodb";
import type { TableDescription } from "./table-description.ts";
import { createTableInput } from "./table-request.ts";

/** What an existing table lacks or has otherwise, in words; empty when it will do. More indexes than needed will do. */
export function differencesOf(description: TableDescription, actual: ActualTable): readonly string[] {
  const wanted = createTableInput(description);
  const differences: string[] = [];
  const compareKey = (
    what: string,
    there: readonly KeySchemaElement[] | undefined,
    needed: readonly KeySchemaElement[] | undefined,
  ): void => {
    const [is, should] = [
      keyText(there, actual.AttributeDefinitions),
      keyText(needed, wanted.AttributeDefinitions),
    ] as const;
    if (is !== should) differences.push(`${what} is ${is} instead of ${should}`);
  };

  compareKey("its key", actual.KeySchema, wanted.KeySchema);
  for (const { IndexName: name, KeySchema, Projection: projection } of wanted.GlobalSecondaryIndexes ?? []) {
    const there = actual.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === name);
    if (there === undefined) {
      differences.push(`it has no index ${name}`);
      continue;
    }
    compareKey(`the key of its index ${name}`, there.KeySchema, KeySchema);
    const missing = missingFrom(there.Projection, projection);
    if (missing.length > 0) differences.push(`its index ${name} does not hold ${missing.join(", ")}`);
  }
  return differences;
}

/** `id (S), at (N)`: partition first. */
function keyText(
  schema: readonly KeySchemaElement[] | undefined,
  attributes: readonly AttributeDefinition[] | undefined,
): string {
  const types = new Map(attributes?.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]));
  return (schema ?? []).map(({ AttributeName: name }) => `${name} (${types.get(name) ?? "?"})`).join(", ");
}

function missingFrom(there: Projection | undefined, needed: Projection | undefined): readonly string[] {
  if (there?.ProjectionType === "ALL") return [];
  if (needed?.ProjectionType === "ALL") return ["all attributes"];
  const held = new Set(there?.NonKeyAttributes);
  return (needed?.NonKeyAttributes ?? []).filter((name) => !held.has(name));
}
