import { DeleteItemCommand, GetItemCommand, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import type { Clock } from "@bridge/ports";
import { CONTENT, keyOf } from "./config-table.ts";
import type { Head } from "./head.ts";
import { type Place, writing } from "./head-item.ts";

/** Longer than anybody takes from writing a content to naming it. */
const UNNAMED_MS = 60 * 60_000;

/** The documents that stores have written: each under its revision, and only while the head names it. */
export class Contents {
  readonly #place: Place;
  readonly #clock: Clock;

  constructor(place: Place, clock: Clock) {
    this.#place = place;
    this.#clock = clock;
  }

  async get(revision: string, signal: AbortSignal): Promise<string | undefined> {
    const { client, tableName, document } = this.#place;
    const get = { TableName: tableName, Key: keyOf(document, CONTENT + revision), ConsistentRead: true };
    return (await client.send(new GetItemCommand(get), signal)).Item?.["document"]?.S;
  }

  async put(revision: string, text: string, signal: AbortSignal): Promise<void> {
    const { client, tableName, document } = this.#place;
    const item = {
      ...keyOf(document, CONTENT + revision),
      document: { S: text },
      written_at: { N: String(this.#clock.now()) },
    };
    await writing(this.#place, client.send(new PutItemCommand({ TableName: tableName, Item: item }), signal));
  }

  /** Deletes what `head` does not name, but for what somebody may be about to name. Never rejects: the next one does it. */
  async sweep({ current, staged }: Head, unnamed: string | undefined, signal: AbortSignal): Promise<void> {
    const { client, tableName, document } = this.#place;
    const named = new Set([current.kind === "written" ? current.revision : undefined, staged?.revision]);
    const query = new QueryCommand({
      TableName: tableName,
      KeyConditionExpression: "config_key = :document AND begins_with(part, :content)",
      ExpressionAttributeValues: { ":document": { S: document }, ":content": { S: CONTENT } },
      ProjectionExpression: "part, written_at",
      ConsistentRead: true,
    });
    try {
      const { Items = [] } = await client.send(query, signal);
      for (const { part, written_at: writtenAt } of Items) {
        const revision = part?.S?.slice(CONTENT.length) ?? "";
        const old = Number(writtenAt?.N) < this.#clock.now() - UNNAMED_MS;
        if (named.has(revision) || !(old || revision === unnamed)) continue;
        const key = { TableName: tableName, Key: keyOf(document, CONTENT + revision) };
        await client.send(new DeleteItemCommand(key), signal);
      }
    } catch {
      // What is left there costs nothing but its place, and what was asked for is done.
    }
  }
}
