import {
  type AttributeValue,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type KeysAndAttributes,
  type WriteRequest,
} from "@aws-sdk/client-dynamodb";
import { BridgeError, type Clock, type Random } from "@bridge/ports";
import type { DynamoClient } from "./dynamo-client.ts";
import { retryDelay } from "@bridge/ports/internal";

/** What the service takes in one request. */
const WRITES = 25;
const READS = 100;
/** Rounds for what the service has left over, so that a batch is bounded in number as its requests are in time. */
const ROUNDS = 10;

export type Item = Record<string, AttributeValue>;

interface Seams {
  readonly client: DynamoClient;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Puts and deletes without conditions, 25 a request; what the service leaves over is sent again. Not atomic: when it
 * rejects, any of them may have been made.
 *
 * @throws BridgeError `THROTTLED` when some are left over again and again
 */
export async function writeBatch(
  table: string,
  writes: readonly WriteRequest[],
  seams: Seams,
  signal: AbortSignal,
): Promise<void> {
  for (let start = 0; start < writes.length; start += WRITES) {
    await inRounds(writes.slice(start, start + WRITES), seams, signal, async (left) => {
      const command = new BatchWriteItemCommand({ RequestItems: { [table]: [...left] } });
      const { UnprocessedItems } = await seams.client.send(command, signal);
      return UnprocessedItems?.[table] ?? [];
    });
  }
}

/** The items of these keys that there are, in any order, 100 keys a request; strongly consistent. */
export async function readBatch(
  table: string,
  keys: readonly Item[],
  seams: Seams,
  signal: AbortSignal,
  attributes: Omit<KeysAndAttributes, "Keys"> = {},
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for (let start = 0; start < keys.length; start += READS) {
    await inRounds(keys.slice(start, start + READS), seams, signal, async (left) => {
      const asked = { ConsistentRead: true, ...attributes, Keys: [...left] };
      const command = new BatchGetItemCommand({ RequestItems: { [table]: asked } });
      const { Responses, UnprocessedKeys } = await seams.client.send(command, signal);
      found.push(...(Responses?.[table] ?? []));
      return UnprocessedKeys?.[table]?.Keys ?? [];
    });
  }
  return found;
}

/** Asks for what is left, until nothing is; `ask` returns what was not done. */
async function inRounds<Part>(
  parts: readonly Part[],
  { clock, random }: Seams,
  signal: AbortSignal,
  ask: (left: readonly Part[]) => Promise<readonly Part[]>,
): Promise<void> {
  let left = parts;
  for (let round = 1; left.length > 0; round++) {
    if (round > ROUNDS) {
      throw new BridgeError("THROTTLED", `${left.length} items of a batch were left over ${ROUNDS} times`, {
        charged: false,
      });
    }
    if (round > 1) await clock.delay(retryDelay(round - 1, random), signal);
    left = await ask(left);
  }
}
