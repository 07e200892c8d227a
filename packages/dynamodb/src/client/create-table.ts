import {
  CreateTableCommand,
  DescribeTimeToLiveCommand,
  UpdateTimeToLiveCommand,
  type TableDescription as ActualTable,
} from "@aws-sdk/client-dynamodb";
import { BridgeError, type Clock } from "@bridge/ports";
import { describeTable, requireLike } from "./describe-table.ts";
import type { DynamoClient } from "./dynamo-client.ts";
import { serviceErrorOf } from "./failure.ts";
import type { TableDescription } from "./table-description.ts";
import { createTableInput } from "./table-request.ts";

export interface CreatedTable {
  /** `present`: it was there, and is as described. */
  readonly table: "created" | "present";
  /**
   * Whether the service removes items by itself: `none` where the table has no such attribute, `unsupported` where an
   * emulator cannot.
   */
  readonly ttl: "enabled" | "none" | "unsupported";
}

const POLL_MS = 250;
const NO_TABLE = "ResourceNotFoundException";

/**
 * Makes the table, or sees that it is there and as described; resolves when it can be used. Idempotent, also when
 * several do it at once. Nothing of an existing table is changed but its time to live, which is switched on.
 *
 * @throws BridgeError `SCHEMA_VIOLATION` when there is one of another form, naming the differences
 */
export async function createTable(
  description: TableDescription,
  client: DynamoClient,
  clock: Clock,
  signal: AbortSignal,
): Promise<CreatedTable> {
  const table = await untilUsable(description, client, clock, signal);
  return { table, ttl: await ensureTtl(description, client, signal) };
}

/** One that is being deleted is waited for, and made anew. */
async function untilUsable(
  description: TableDescription,
  client: DynamoClient,
  clock: Clock,
  signal: AbortSignal,
): Promise<CreatedTable["table"]> {
  for (let created = false; ; await clock.delay(POLL_MS, signal)) {
    const actual = await described(description.name, client, signal);
    // One that was made a moment ago may not be known yet.
    if (actual === undefined) created ||= await make(description, client, signal);
    else if (isUsable(actual)) {
      requireLike(description, actual);
      return created ? "created" : "present";
    }
  }
}

/** Whether it was made by this call. */
async function make(description: TableDescription, client: DynamoClient, signal: AbortSignal): Promise<boolean> {
  try {
    await client.send(new CreateTableCommand(createTableInput(description)), signal);
    return true;
  } catch (error) {
    // Somebody else makes it at the same time, or the answer to an earlier try was lost, or it is not gone yet.
    if (serviceErrorOf(error) !== "ResourceInUseException") throw error;
    return false;
  }
}

async function described(name: string, client: DynamoClient, signal: AbortSignal): Promise<ActualTable | undefined> {
  try {
    return await describeTable(name, client, signal);
  } catch (error) {
    if (serviceErrorOf(error) === NO_TABLE) return undefined;
    throw error;
  }
}

function isUsable({ TableStatus, GlobalSecondaryIndexes = [] }: ActualTable): boolean {
  const usable = TableStatus === "ACTIVE" || TableStatus === "UPDATING";
  return usable && GlobalSecondaryIndexes.every(({ IndexStatus }) => IndexStatus === "ACTIVE");
}

async function ensureTtl(
  { name, ttlAttribute }: TableDescription,
  client: DynamoClient,
  signal: AbortSignal,
): Promise<CreatedTable["ttl"]> {
  if (ttlAttribute === undefined) return "none";
  const goesBy = await livesBy(name, client, signal);
  if (goesBy === ttlAttribute) return "enabled";
  if (goesBy !== undefined) {
    const text = `table ${name}: its time to live goes by ${goesBy} instead of ${ttlAttribute}: switch it off first`;
    throw new BridgeError("SCHEMA_VIOLATION", text, { charged: false });
  }
  const specification = { Enabled: true, AttributeName: ttlAttribute };
  try {
    await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification: specification }), signal);
    return "enabled";
  } catch (error) {
    if (serviceErrorOf(error) === "UnknownOperationException") return "unsupported";
    // Another that makes the table as well has switched it on meanwhile, or the answer to a first try was lost.
    if (serviceErrorOf(error) === "ValidationException" && (await livesBy(name, client, signal)) === ttlAttribute) {
      return "enabled";
    }
    throw error;
  }
}

/** The attribute that the time to live of its items goes by; `undefined` when it is off. */
async function livesBy(name: string, client: DynamoClient, signal: AbortSignal): Promise<string | undefined> {
  const { TimeToLiveDescription: ttl } = await client.send(new DescribeTimeToLiveCommand({ TableName: name }), signal);
  const on = ttl?.TimeToLiveStatus === "ENABLED" || ttl?.TimeToLiveStatus === "ENABLING";
  return on ? ttl.AttributeName : undefined;
}
