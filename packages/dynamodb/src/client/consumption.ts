import type { ConsumedCapacity, DynamoDBClient } from "@aws-sdk/client-dynamodb";

/** What one answered request has consumed, indexes included. */
export interface Consumed {
  /** Such as `PutItem`. */
  readonly operation: string;
  /** Read or write units, by what the operation does. */
  readonly units: number;
}

const METERED = /^(?:Get|Put|Update|Delete|Query|Scan|Batch(?:Get|Write)|Transact(?:Get|Write))/;
const TABLES = /Table|TimeToLive/;

/** An answer that says yes and was not made by the service: something between the two made it, and nothing may be done. */
class NoReceipt extends Error {
  override readonly name = "NoReceipt";
}

/**
 * Asks for the consumption with each request, looks for it and tells it. It is the receipt of the service: an answer without
 * one, such as an empty one, would otherwise be taken for a write that was made, or for a table without the item.
 */
export function addConsumption(sdk: DynamoDBClient, tell: ((consumed: Consumed) => void) | undefined): void {
  sdk.middlewareStack.add(
    (next, context) => async (args) => {
      const operation = (context.commandName ?? "").replace(/Command$/, "");
      if (!METERED.test(operation) || TABLES.test(operation)) return next(args);
      const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: "TOTAL" } });
      const { ConsumedCapacity: consumed } = result.output as {
        readonly ConsumedCapacity?: ConsumedCapacity | readonly ConsumedCapacity[] | null;
      };
      if (typeof consumed !== "object" || consumed === null) throw new NoReceipt();
      const parts: readonly ConsumedCapacity[] = [consumed].flat();
      tell?.({ operation, units: parts.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0) });
      return result;
    },
    { step: "initialize", name: "bridgeConsumption" },
  );
}
