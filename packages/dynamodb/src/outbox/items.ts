import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { type Conditional, type DynamoClient } from "../client/dynamo-client.ts";
import { type Item, readBatch } from "../client/batches.ts";
import type { Seams } from "@bridge/ports";

/** What an item has to hold for a write to be made: these values, or, when it says `absent`, not to be there. */
export type Condition = Item | "absent";

export interface Change {
  readonly set?: Item;
  readonly remove?: readonly string[];
  /** Adds to numbers. */
  readonly add?: Item;
  readonly when: Condition;
  /** Whether the item is wanted as it is then. */
  readonly answers?: boolean;
}

/** Where a page of an index begins and ends. */
export interface IndexPage {
  readonly index: string;
  readonly partition: readonly [name: string, value: string];
  /** Items whose `place` is after this. */
  readonly after?: string;
  readonly limit?: number;
  readonly startKey?: Item | undefined;
}

export interface PageOfKeys {
  readonly items: readonly Item[];
  /** Where the next page starts; `undefined` at the end. */
  readonly next: Item | undefined;
}

/** The items of the table, one at a time; reads are strongly consistent but for those of an index. */
export class Items {
  readonly #table: string;
  readonly #client: DynamoClient;
  readonly #seams: Pick<Seams, "clock" | "random">;

  constructor(table: string, client: DynamoClient, seams: Pick<Seams, "clock" | "random">) {
    this.#table = table;
    this.#client = client;
    this.#seams = seams;
  }

  async get(key: string, signal: AbortSignal): Promise<Item | undefined> {
    const command = new GetItemCommand({ TableName: this.#table, Key: { pk: { S: key } }, ConsistentRead: true });
    return (await this.#client.send(command, signal)).Item;
  }

  /** Those of these keys that there are. */
  async read(keys: Iterable<string>, signal: AbortSignal): Promise<ReadonlyMap<string, Item>> {
    const wanted = [...new Set(keys)].map((key) => ({ pk: { S: key } }));
    const found = await readBatch(this.#table, wanted, { client: this.#client, ...this.#seams }, signal);
    return new Map(found.map((item) => [item["pk"]?.S ?? "", item]));
  }

  put(item: Item, when: Condition, signal: AbortSignal): Promise<Conditional<unknown>> {
    const { expression, ...words } = conditionOf(when);
    const command = new PutItemCommand({
      TableName: this.#table,
      Item: item,
      ConditionExpression: expression,
      ...words,
    });
    return this.#client.sendIf(command, signal);
  }

  delete(key: string, when: Condition, signal: AbortSignal): Promise<Conditional<unknown>> {
    const { expression, ...words } = conditionOf(when);
    const command = new DeleteItemCommand({
      TableName: this.#table,
      Key: { pk: { S: key } },
      ConditionExpression: expression,
      ...words,
    });
    return this.#client.sendIf(command, signal);
  }

  async change(key: string, change: Change, signal: AbortSignal): Promise<Conditional<Item>> {
    const { set = {}, remove = [], add = {}, when, answers = false } = change;
    const condition = conditionOf(when);
    const names: Record<string, string> = { ...condition.ExpressionAttributeNames };
    const values: Item = { ...condition.ExpressionAttributeValues };
    const clauses: string[] = [];
    const clause = (word: string, parts: readonly string[]): void => {
      if (parts.length > 0) clauses.push(`${word} ${parts.join(", ")}`);
    };
    const named = (name: string): string => {
      names[`#${name}`] = name;
      return `#${name}`;
    };
    const valued = (name: string, value: AttributeValue): string => {
      values[`:${name}`] = value;
      return `:${name}`;
    };
    clause(
      "SET",
      Object.entries(set).map(([name, value]) => `${named(name)} = ${valued(name, value)}`),
    );
    clause("REMOVE", remove.map(named));
    clause(
      "ADD",
      Object.entries(add).map(([name, value]) => `${named(name)} ${valued(name, value)}`),
    );
    const command = new UpdateItemCommand({
      TableName: this.#table,
      Key: { pk: { S: key } },
      UpdateExpression: clauses.join(" "),
      ConditionExpression: condition.expression,
      ExpressionAttributeNames: names,
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
      ReturnValues: answers ? "ALL_NEW" : "NONE",
    });
    const result = await this.#client.sendIf(command, signal);
    return result.made ? { made: true, output: result.output.Attributes ?? {} } : result;
  }

  /** Adds to the end of a list, whatever is in it, and tells what is then. */
  async append(key: string, list: string, lines: readonly AttributeValue[], signal: AbortSignal): Promise<Item> {
    const command = new UpdateItemCommand({
      TableName: this.#table,
      Key: { pk: { S: key } },
      UpdateExpression: "SET #list = list_append(if_not_exists(#list, :none), :lines) ADD #version :one",
      ExpressionAttributeNames: { "#list": list, "#version": "version" },
      ExpressionAttributeValues: { ":none": { L: [] }, ":lines": { L: [...lines] }, ":one": { N: "1" } },
      ReturnValues: "ALL_NEW",
    });
    return (await this.#client.send(command, signal)).Attributes ?? {};
  }

  /** Adds to a set of texts. */
  async include(key: string, set: string, member: string, signal: AbortSignal): Promise<void> {
    const command = new UpdateItemCommand({
      TableName: this.#table,
      Key: { pk: { S: key } },
      UpdateExpression: "ADD #set :member",
      ExpressionAttributeNames: { "#set": set },
      ExpressionAttributeValues: { ":member": { SS: [member] } },
    });
    await this.#client.send(command, signal);
  }

  async page(page: IndexPage, signal: AbortSignal): Promise<PageOfKeys> {
    const { Items: items = [], LastEvaluatedKey: next } = await this.#client.send(this.#query(page), signal);
    return { items, next };
  }

  /** How many items a page has, and where the next one starts. */
  async count(
    page: IndexPage,
    signal: AbortSignal,
  ): Promise<{ readonly count: number; readonly next: Item | undefined }> {
    const { Count: count = 0, LastEvaluatedKey: next } = await this.#client.send(this.#query(page, true), signal);
    return { count, next };
  }

  #query({ index, partition, after, limit, startKey }: IndexPage, counts = false): QueryCommand {
    const [name, value] = partition;
    return new QueryCommand({
      TableName: this.#table,
      IndexName: index,
      KeyConditionExpression:
        after === undefined ? "#partition = :partition" : "#partition = :partition AND #place > :after",
      ExpressionAttributeNames: { "#partition": name, ...(after !== undefined && { "#place": "place" }) },
      ExpressionAttributeValues: { ":partition": { S: value }, ...(after !== undefined && { ":after": { S: after } }) },
      ...(limit !== undefined && { Limit: limit }),
      ...(startKey !== undefined && { ExclusiveStartKey: startKey }),
      ...(counts && { Select: "COUNT" }),
    });
  }
}

function conditionOf(when: Condition): {
  readonly expression: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Item;
} {
  if (when === "absent") return { expression: "attribute_not_exists(pk)" };
  const names = Object.keys(when);
  return {
    expression: names.map((name) => `#${name} = :was_${name}`).join(" AND "),
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(Object.entries(when).map(([name, value]) => [`:was_${name}`, value])),
  };
}
