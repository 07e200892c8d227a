import { GetItemCommand, PutItemCommand, type PutItemCommandInput } from "@aws-sdk/client-dynamodb";
import { type Consumed } from "../client/consumption.ts";
import { type DynamoOptions } from "../client/dynamo-client.ts";
import { type Item } from "../client/batches.ts";
import { openTable } from "../client/open-table.ts";
import { BridgeError, type Clock, type LeaseRecord, type LeaseStore, type Logger, type Random } from "@bridge/ports";
import { itemOf, recordOf } from "./lease-item.ts";
import { leaseTable } from "./lease-table.ts";

export interface DynamodbLeasesOptions {
  /** The table, as {@link leaseTable} describes it. */
  readonly tableName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Is told what each answered request has consumed. */
  readonly onConsumed?: ((consumed: Consumed) => void) | undefined;
  /** For the SDK's client. Default: region, endpoint and credentials as the SDK finds them. */
  readonly sdk?: DynamoOptions["sdk"];
}

/** A holder has to hear soon whether it still holds its lease: a lost request must not use up its time. */
const TRY_TIMEOUT_MS = 1_500;

/**
 * Leases in a table that all instances share. Reads are strongly consistent; a replacement is one conditional put, so the
 * table decides every race. An answer that was lost is looked up: the caller is told what became of its own write.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when there is no such table or no region, `SCHEMA_VIOLATION` when the table
 * has another form
 */
export async function openDynamodbLeases(options: DynamodbLeasesOptions, signal: AbortSignal): Promise<LeaseStore> {
  const { tableName, random } = options;
  const client = await openTable(
    leaseTable(tableName),
    { tryTimeoutMs: TRY_TIMEOUT_MS, longestTryMs: TRY_TIMEOUT_MS, ...options },
    signal,
  );

  async function find(key: string, caller: AbortSignal): Promise<Item | undefined> {
    const get = { TableName: tableName, Key: { lease_key: { S: key } }, ConsistentRead: true };
    const { Item } = await client.send(new GetItemCommand(get), caller);
    return Item;
  }

  return {
    async read(key, caller) {
      const item = await find(key, caller);
      return item && recordOf(item);
    },
    async replace(key, expected, next, caller) {
      const written = random.id();
      const put = { TableName: tableName, Item: itemOf(key, next, written), ...conditionOf(expected) };
      const result = await client.sendIf(new PutItemCommand(put), caller);
      if (result.made || !result.unsure) return result.made;
      // The condition met either our own write, whose answer was lost, or somebody else's.
      const there = await find(key, caller);
      if (there?.["written"]?.S === written) return true;
      throw new BridgeError("CONNECTION_LOST", `whether lease ${key} was replaced is unknown: no answer came in time`, {
        charged: false,
      });
    },
    health: () => client.health(),
    prove: () => client.prove(),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

function conditionOf(expected: LeaseRecord | undefined): Partial<PutItemCommandInput> {
  if (expected === undefined) return { ConditionExpression: "attribute_not_exists(lease_key)" };
  return {
    // Both names are words of the service's own language.
    ConditionExpression: "#token = :token AND #beat = :beat",
    ExpressionAttributeNames: { "#token": "token", "#beat": "beat" },
    ExpressionAttributeValues: { ":token": { N: String(expected.token) }, ":beat": { N: String(expected.beat) } },
  };
}
