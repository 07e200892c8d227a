import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  type QueryCommandInput,
} from "@aws-sdk/client-dynamodb";
import type { Item } from "../client/batches.ts";
import type { ConfigHistory, ConfigHistoryEntry, Random } from "@bridge/ports";
import { HISTORY, keyOf } from "./config-table.ts";
import { MAX_DOCUMENT_BYTES } from "./document-text.ts";
import type { Place } from "./head-item.ts";

const KEPT = 20;
/** Of a change that is too large to keep with its values. */
const PATHS = 1_000;
const PATH_LENGTH = 200;

/** Entries in items of their own, numbered, so that the table decides which of two that come at once is the later one. */
export function dynamodbHistory(place: Place, random: Random): ConfigHistory {
  const { client, tableName, document } = place;

  /** The newest first. */
  async function newest(limit: number, signal: AbortSignal): Promise<readonly Item[]> {
    const { Items = [] } = await client.send(new QueryCommand({ ...between(0, Infinity), Limit: limit }), signal);
    return Items;
  }

  function between(first: number, last: number): QueryCommandInput {
    return {
      TableName: tableName,
      KeyConditionExpression: "config_key = :document AND part BETWEEN :first AND :last",
      ExpressionAttributeValues: {
        ":document": { S: document },
        ":first": { S: partOf(first) },
        ":last": { S: last === Infinity ? `${HISTORY}~` : partOf(last) },
      },
      ConsistentRead: true,
      ScanIndexForward: false,
    };
  }

  async function forget(upTo: number, signal: AbortSignal): Promise<void> {
    if (upTo < 1) return;
    const old = new QueryCommand({ ...between(0, upTo), ProjectionExpression: "part", Limit: KEPT });
    for (const { part } of (await client.send(old, signal)).Items ?? []) {
      const key = { TableName: tableName, Key: keyOf(document, part?.S ?? "") };
      await client.send(new DeleteItemCommand(key), signal);
    }
  }

  /** Whether it was put; otherwise another one is there. */
  async function put(number: number, item: Item, condition: Partial<PutItemCommandInput>, signal: AbortSignal) {
    const key = keyOf(document, partOf(number));
    const command = new PutItemCommand({ TableName: tableName, Item: { ...key, ...item }, ...condition });
    const answer = await client.sendIf(command, signal);
    if (answer.made || !answer.unsure) return answer.made;
    const get = new GetItemCommand({ TableName: tableName, Key: key, ConsistentRead: true });
    return (await client.send(get, signal)).Item?.["mark"]?.S === item["mark"]?.S;
  }

  return {
    async append(entry, signal) {
      signal.throwIfAborted();
      const mark = random.id();
      const item = { mark: { S: mark }, entry: { S: textOf(entry) } };
      for (;;) {
        const [last] = await newest(1, signal);
        const number = numberOf(last);
        const pending = last !== undefined && entryOf(last)?.pending === true;
        const done = pending
          ? await put(
              number,
              item,
              { ...SAME, ExpressionAttributeValues: { ":mark": last["mark"] ?? { S: "" } } },
              signal,
            )
          : await put(number + 1, item, { ConditionExpression: "attribute_not_exists(part)" }, signal);
        if (done) return forget((pending ? number : number + 1) - KEPT, signal);
      }
    },
    async list(signal) {
      signal.throwIfAborted();
      return (await newest(KEPT, signal)).flatMap((item) => entryOf(item) ?? []);
    },
  };
}

const SAME = { ConditionExpression: "#mark = :mark", ExpressionAttributeNames: { "#mark": "mark" } };

function partOf(number: number): string {
  return HISTORY + String(number).padStart(16, "0");
}

function numberOf(item: Item | undefined): number {
  return item === undefined ? 0 : Number(item["part"]?.S?.slice(HISTORY.length));
}

function textOf(entry: ConfigHistoryEntry): string {
  const text = JSON.stringify(entry);
  if (Buffer.byteLength(text) <= MAX_DOCUMENT_BYTES) return text;
  const changes = entry.changes.slice(0, PATHS).map(({ path }) => ({ path: path.slice(0, PATH_LENGTH) }));
  return JSON.stringify({ ...entry, changes });
}

/** Nothing for an item that somebody has edited: the others still tell what they know. */
function entryOf({ entry }: Item): ConfigHistoryEntry | undefined {
  try {
    return JSON.parse(entry?.S ?? "") as ConfigHistoryEntry;
  } catch {
    return undefined;
  }
}
