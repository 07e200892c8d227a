import { PATIENCE } from "@bridge/tooling/patience";
import { DeleteItemCommand, GetItemCommand, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import type { ConfigDocument, ConfigPlace, ConfigStoreSubject } from "@bridge/conformance";
import { createTable } from "../../../src/client/create-table.ts";
import { DynamoClient } from "../../../src/client/dynamo-client.ts";
import { type Item } from "../../../src/client/batches.ts";
import { type ConfigStore, type Random, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import type { TestDynamo } from "@bridge/tooling/test-dynamodb";
import { configTable } from "../../../src/config/config-table.ts";
import { type DynamodbConfigOptions, openDynamodbConfig } from "../../../src/config/open-dynamodb-config.ts";

/** Waits between tries are 0. */
const AT_ONCE: Random = { ...systemRandom(), next: () => 0 };
const SEAMS = { clock: systemClock, random: AT_ONCE, logger: silentLogger };
const { signal } = new AbortController();
const TABLE = "bridge-config";

let documents = 0;

/** The table of a test file, in which each of its tests has a document of its own. */
export class ConfigTable implements AsyncDisposable {
  readonly dynamo: TestDynamo;
  readonly client: DynamoClient;

  constructor(dynamo: TestDynamo) {
    this.dynamo = dynamo;
    this.client = new DynamoClient({ ...SEAMS, sdk: dynamo.sdk });
  }

  static async make(dynamo: TestDynamo): Promise<ConfigTable> {
    const table = new ConfigTable(dynamo);
    await createTable(configTable(TABLE), table.client, systemClock, AbortSignal.timeout(PATIENCE.timeout));
    dynamo.reset();
    return table;
  }

  open(document: string, options: Partial<DynamodbConfigOptions> = {}): Promise<ConfigStore> {
    const watch = () => ({ pollIntervalMs: 5 });
    const given = { ...SEAMS, sdk: this.dynamo.sdk, tableName: TABLE, document, watch, ...options };
    return openDynamodbConfig(given, AbortSignal.timeout(PATIENCE.timeout));
  }

  newDocument(): string {
    return `plant-${++documents}`;
  }

  async get(document: string, part: string): Promise<Item | undefined> {
    const get = { TableName: TABLE, Key: key(document, part), ConsistentRead: true };
    return (await this.client.send(new GetItemCommand(get), signal)).Item;
  }

  /** What there is of the document, but for its history and former versions. */
  async parts(document: string): Promise<readonly (string | undefined)[]> {
    const query = new QueryCommand({
      TableName: TABLE,
      KeyConditionExpression: "config_key = :document",
      ExpressionAttributeValues: { ":document": { S: document } },
      ConsistentRead: true,
    });
    const { Items = [] } = await this.client.send(query, signal);
    return Items.map(({ part }) => part?.S).filter(
      (part) => part !== undefined && !/^(?:history|version|former)\//.test(part),
    );
  }

  /** Puts the item of the document, as somebody would by hand. */
  async put(document: string, attributes: Item): Promise<void> {
    const item = { ...key(document, "document"), ...attributes };
    await this.client.send(new PutItemCommand({ TableName: TABLE, Item: item }), signal);
  }

  async remove(document: string): Promise<void> {
    await this.client.send(new DeleteItemCommand({ TableName: TABLE, Key: key(document, "document") }), signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
    await this.dynamo[Symbol.asyncDispose]();
  }
}

function key(document: string, part: string): Item {
  return { config_key: { S: document }, part: { S: part } };
}

/** What the suites are to try. */
export function dynamodbSubject(table: ConfigTable): Omit<ConfigStoreSubject, "except"> {
  return {
    open: (document) => place(table, document),
    async openReadOnly(document) {
      const readOnly = await place(table, document);
      table.dynamo.choose = (operation) => (operation === "PutItem" ? { error: "AccessDeniedException" } : undefined);
      const dispose = async (): Promise<void> => {
        table.dynamo.reset();
        await readOnly[Symbol.asyncDispose]();
      };
      return { ...readOnly, [Symbol.asyncDispose]: dispose };
    },
  };
}

async function place(table: ConfigTable, document: ConfigDocument | undefined): Promise<ConfigPlace> {
  const name = table.newDocument();
  const stores: ConfigStore[] = [];
  const open = async (): Promise<ConfigStore> => {
    const store = await table.open(name);
    stores.push(store);
    return store;
  };
  const replace = (next: ConfigDocument): Promise<void> => table.put(name, { document: { S: JSON.stringify(next) } });
  if (document !== undefined) await replace(document);
  return {
    store: await open(),
    second: open,
    reopen: open,
    replace,
    remove: () => table.remove(name),
    damage: (secret) => table.put(name, { document: { S: `{"bridge": "${secret}` } }),
    async content() {
      const item = await table.get(name, "document");
      if (item === undefined) return undefined;
      const { staged: _, ...rest } = item;
      const { revision } = rest;
      const written = revision?.S === undefined ? undefined : await table.get(name, `content/${revision.S}`);
      return JSON.stringify([rest, written?.["document"]]);
    },
    async [Symbol.asyncDispose]() {
      for (const store of stores) await store[Symbol.asyncDispose]();
    },
  };
}
