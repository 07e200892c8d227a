import { DeleteItemCommand, GetItemCommand, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import type { ConfigVersions, Logger, StoredConfig } from "@bridge/ports";
import { FORMER, keyOf, VERSION } from "./config-table.ts";
import type { Contents } from "./contents.ts";
import { storedOf, textOf } from "./document-text.ts";
import type { Current } from "./head.ts";
import { type Place, writing } from "./head-item.ts";

const KEPT = 20;
const DIGITS = 16;

/** Former documents, each in an item of its own that is named after its version. */
export class DynamodbVersions implements ConfigVersions {
  readonly #place: Place;
  readonly #contents: Contents;

  readonly #logger: Logger;

  constructor(place: Place, contents: Contents, logger: Logger) {
    this.#place = place;
    this.#contents = contents;
    this.#logger = logger;
  }

  async list(signal: AbortSignal): Promise<readonly number[]> {
    return (await this.#all(signal)).slice(0, KEPT);
  }

  async load(version: number, signal: AbortSignal): Promise<StoredConfig | undefined> {
    const { client, tableName, document, source } = this.#place;
    const get = { TableName: tableName, Key: keyOf(document, partOf(FORMER, version)), ConsistentRead: true };
    const text = (await client.send(new GetItemCommand(get), signal)).Item?.["document"]?.S;
    return text === undefined ? undefined : storedOf(text, `version ${version}`, source);
  }

  keepReverted({ version, document }: Pick<StoredConfig, "version" | "document">, signal: AbortSignal): Promise<void> {
    return this.#keep(version, textOf(document, version, this.#place.source), signal);
  }

  /** Before something else takes the place of `current`. That it cannot be kept fails no commit. */
  async keep(current: Current, signal: AbortSignal): Promise<void> {
    try {
      await this.#keepCurrent(current, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#logger.warn("the former configuration is not kept: nobody can go back to it", {
        error: error instanceof Error ? error.message : String(error),
      });
    }
  }

  async #keepCurrent(current: Current, signal: AbortSignal): Promise<void> {
    if (current.kind === "written") {
      const text = await this.#contents.get(current.revision, signal);
      if (text !== undefined) await this.#keep(current.version, text, signal);
    } else if (current.kind === "by hand") {
      const version = versionIn(current.text, this.#place.source);
      if (version !== undefined) await this.#keep(version, current.text, signal);
    }
  }

  async #keep(version: number, text: string, signal: AbortSignal): Promise<void> {
    // In this order, so that nothing is kept that nobody names.
    await this.#put(VERSION, version, {}, signal);
    await this.#put(FORMER, version, { document: { S: text } }, signal);
    const { client, tableName, document } = this.#place;
    for (const old of (await this.#all(signal)).slice(KEPT)) {
      for (const prefix of [FORMER, VERSION]) {
        const key = { TableName: tableName, Key: keyOf(document, partOf(prefix, old)) };
        await client.send(new DeleteItemCommand(key), signal);
      }
    }
  }

  async #put(prefix: string, version: number, rest: Readonly<Record<string, { S: string }>>, signal: AbortSignal) {
    const { client, tableName, document } = this.#place;
    const item = { ...keyOf(document, partOf(prefix, version)), ...rest };
    await writing(this.#place, client.send(new PutItemCommand({ TableName: tableName, Item: item }), signal));
  }

  /** The newest first. */
  async #all(signal: AbortSignal): Promise<readonly number[]> {
    const { client, tableName, document } = this.#place;
    const query = new QueryCommand({
      TableName: tableName,
      KeyConditionExpression: "config_key = :document AND begins_with(part, :version)",
      ExpressionAttributeValues: { ":document": { S: document }, ":version": { S: VERSION } },
      ProjectionExpression: "part",
      ConsistentRead: true,
      ScanIndexForward: false,
    });
    const { Items = [] } = await client.send(query, signal);
    return Items.map(({ part }) => Number(part?.S?.slice(VERSION.length)));
  }
}

function partOf(prefix: string, version: number): string {
  return prefix + String(version).padStart(DIGITS, "0");
}

function versionIn(text: string, source: string): number | undefined {
  try {
    return storedOf(text, "", source).version;
  } catch {
    return undefined;
  }
}
