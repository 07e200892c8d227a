import { BridgeError, type Logger, systemClock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { describeTable, requireLike } from "./describe-table.ts";
import { DynamoClient, type DynamoOptions } from "./dynamo-client.ts";
import type { TableDescription } from "./table-description.ts";
import { tryReading, tryWriting } from "./trials.ts";

/** Starting does not wait longer for a service that does not answer. */
const CHECK_TIMEOUT_MS = 5_000;

/**
 * A client for a store whose table is there and as described. When the service cannot be asked at the moment, or does
 * not let us, the client is given all the same: calls fail until it can, and {@link DynamoClient.health} tells of it.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when there is no such table or no region, `SCHEMA_VIOLATION` when the table
 * has another form
 */
export async function openTable(
  description: TableDescription,
  options: DynamoOptions & { readonly logger: Logger },
  signal: AbortSignal,
): Promise<DynamoClient> {
  signal.throwIfAborted();
  const client = new DynamoClient({
    ...options,
    trial: (tried, faulty, ended) =>
      faulty ? tryWriting(description, tried, ended) : tryReading(description, tried, ended),
  });
  try {
    await client.requireRegion();
    await check(description, client, options.logger, signal);
    return client;
  } catch (error) {
    await client[Symbol.asyncDispose]();
    throw error;
  }
}

async function check(
  description: TableDescription,
  client: DynamoClient,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const late = new BridgeError("TIMEOUT", `table ${description.name}: no answer within ${CHECK_TIMEOUT_MS} ms`);
  using limit = deadline(systemClock, CHECK_TIMEOUT_MS, late);
  try {
    requireLike(description, await describeTable(description.name, client, AbortSignal.any([signal, limit.signal])));
  } catch (thrown) {
    signal.throwIfAborted();
    // That there was no answer in time says less than what the last try met.
    const error = (limit.signal.aborted ? client.failure : undefined) ?? BridgeError.from(thrown);
    if (error.code === "DESTINATION_NOT_FOUND" || error.code === "SCHEMA_VIOLATION") throw error;
    logger.warn("the table could not be looked at: the store is opened all the same", {
      table: description.name,
      code: error.code,
      error: error.message,
    });
  }
}
