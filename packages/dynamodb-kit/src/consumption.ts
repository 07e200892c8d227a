import type { ConsumedCapacity, DynamoDBClient } from "@aws-sdk/client-dynamodb";

/** What one answered request has consumed, indexes included. */
export interface Consumed {
  /** Such as `PutItem`. */
  readonly operation: string;
  /** Read or write units, by what the operation does; 0 where the service does not say. */
  readonly units: number;
}

const METERED = /^(?:Get|Put|Update|Delete|Query|Scan|Batch(?:Get|Write)|Transact(?:Get|Write))/;
const TABLES = /Table|TimeToLive/;

/** Asks for the consumption with each request and tells it. */
export function addConsumption(sdk: DynamoDBClient, tell: (consumed: Consumed) => void): void {
  sdk.middlewareStack.add(
    (next, context) => async (args) => {
      const operation = (context.commandName ?? "").replace(/Command$/, "");
      const metered = METERED.test(operation) && !TABLES.test(operation);
      const input = metered ? { ...args.input, ReturnConsumedCapacity: "TOTAL" } : args.input;
      const result = await next({ ...args, input });
      const { ConsumedCapacity: consumed } = result.output as {
        ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[];
      };
      const parts = consumed === undefined ? [] : Array.isArray(consumed) ? consumed : [consumed];
      tell({ operation, units: parts.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0) });
      return result;
    },
    { step: "initialize", name: "bridgeConsumption" },
  );
}
