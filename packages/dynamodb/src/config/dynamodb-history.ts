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
import { byVersion, replacedEntry } from "@bridge/ports/internal";
import { HISTORY, keyOf } from "./config-table.ts";
import { MAX_DOCUMENT_BYTES } from "./document-text.ts";
import type { Place } from "./head-item.ts";

const KEPT = 20;
/** Those among which the one is that another takes the place of: what others have appended since that one was is not more. */
const LOOKED_AT = 4;
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
        const items = await newest(LOOKED_AT, signal);
        const last = numberOf(items[0]);
        const replaced = items[replacedEntry(items.map(entryOf), entry)];
        if (replaced === undefined) {
          if (await put(last + 1, item, NEW, signal)) return forget(last + 1 - KEPT, signal);
        } else {
          const same = { ...SAME, ExpressionAttributeValues: { ":mark": replaced["mark"] ?? { S: "" } } };
          if (await put(numberOf(replaced), item, same, signal)) return;
        }
      }
    },
    async list(signal) {
      signal.throwIfAborted();
      return byVersion((await newest(KEPT, signal)).flatMap((item) => entryOf(item) ?? []));
    },
  };
}

const NEW = { ConditionExpression: "attribute_not_exists(part)" };
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
