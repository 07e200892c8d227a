import { GetItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { DynamoClient } from "@bridge/dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import { BridgeError, type Clock } from "@bridge/ports";
import { expiry } from "./dead-letter-item.ts";
import { type Content, contentOf, partKeys, type PartedContent } from "./parted-content.ts";

/** Requests at once: some megabytes on their way. */
const AT_ONCE = 5;
/** Longer than anybody takes from writing a part to its entry; what is not needed by then, the service removes. */
const UNNAMED_MS = 86_400_000;
const NOTHING = new Uint8Array();

/**
 * Contents that are too large for the item of their entry, each in items of their own. They are there for good before the entry is,
 * and until then for a day: who dies before that leaves nothing for ever. Who dies between that and the entry leaves parts that no entry
 * names, until the retention is over if there is one.
 */
export class Parts {
  readonly #client: DynamoClient;
  readonly #tableName: string;
  readonly #clock: Clock;

  constructor(client: DynamoClient, tableName: string, clock: Clock) {
    this.#client = client;
    this.#tableName = tableName;
    this.#clock = clock;
  }

  /** Resolves when they are there until `expiresAt`, in epoch milliseconds; without it, for good. */
  async put(
    id: string,
    { place, parts }: PartedContent,
    expiresAt: number | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const unnamed = this.#unnamed();
    await each(partKeys(id, place), async (key, number) => {
      const item = { ...key, part: { B: parts[number] ?? NOTHING }, ...unnamed };
      const input = { TableName: this.#tableName, Item: item, ConditionExpression: "attribute_not_exists(id)" };
      // Refused: an earlier try, whose answer was lost, has written it.
      await this.#client.sendIf(new PutItemCommand(input), signal);
    });
    await each(partKeys(id, place), async (key) => {
      if (!(await this.#expire(key, expiry(expiresAt), signal)))
        throw new BridgeError("UNAVAILABLE", "a part of a dead letter is not there any more", { charged: false });
    });
  }

  /** `undefined` when one of them is not there. */
  async get(id: string, place: string, signal: AbortSignal): Promise<Content | undefined> {
    const keys = partKeys(id, place);
    const parts = new Map<number, Uint8Array>();
    await each(keys, async (key, number) => {
      const get = { TableName: this.#tableName, Key: key, ConsistentRead: true };
      const { Item } = await this.#client.send(new GetItemCommand(get), signal);
      if (Item?.["part"]?.B !== undefined) parts.set(number, Item["part"].B);
    });
    return parts.size === keys.length
      ? contentOf(
          place,
          keys.map((_, number) => parts.get(number) ?? NOTHING),
        )
      : undefined;
  }

  /**
   * Leaves them to the service, from a day after `from` on, in epoch milliseconds (default: now): no entry names them any more. Never
   * rejects: what stays costs its place, and nothing else.
   */
  async forget(id: string, place: string, signal: AbortSignal, from?: number): Promise<void> {
    try {
      await each(partKeys(id, place), async (key) => void (await this.#expire(key, this.#unnamed(from), signal)));
    } catch {
      // The entry is gone all the same.
    }
  }

  /** Takes that back: those that are there stay until `expiresAt`, in epoch milliseconds; without it, for good. */
  async keep(id: string, place: string, expiresAt: number | undefined, signal: AbortSignal): Promise<void> {
    await each(partKeys(id, place), async (key) => void (await this.#expire(key, expiry(expiresAt), signal)));
  }

  /** Whether it was there. */
  async #expire(key: Item, { expires_at: at }: Item, signal: AbortSignal): Promise<boolean> {
    const command = new UpdateItemCommand({
      TableName: this.#tableName,
      Key: key,
      UpdateExpression: at === undefined ? "REMOVE expires_at" : "SET expires_at = :at",
      ...(at !== undefined && { ExpressionAttributeValues: { ":at": at } }),
      ConditionExpression: "attribute_exists(id)",
    });
    return (await this.#client.sendIf(command, signal)).made;
  }

  #unnamed(from = this.#clock.now()): Item {
    return expiry(from + UNNAMED_MS);
  }
}

/** A few at a time; rejects when those under way have ended. */
async function each(keys: readonly Item[], work: (key: Item, number: number) => Promise<void>): Promise<void> {
  for (let start = 0; start < keys.length; start += AT_ONCE) {
    const some = keys.slice(start, start + AT_ONCE).map((key, index) => work(key, start + index));
    for (const result of await Promise.allSettled(some)) if (result.status === "rejected") throw result.reason;
  }
}
