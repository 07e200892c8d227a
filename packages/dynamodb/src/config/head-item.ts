import { GetItemCommand, PutItemCommand, type PutItemCommandInput } from "@aws-sdk/client-dynamodb";
import type { DynamoClient } from "../client/dynamo-client.ts";
import { BridgeError, ReadOnlyConfigError } from "@bridge/ports";
import { HEAD, keyOf } from "./config-table.ts";
import { attributesOf, type Head, headOf } from "./head.ts";

export interface Place {
  readonly client: DynamoClient;
  readonly tableName: string;
  /** Names the document in the table. */
  readonly document: string;
  /** Names it for people. */
  readonly source: string;
}

/** What a change makes of a head; without `next` it has nothing to do, or nothing to do any more. */
export interface Step<Result> {
  readonly result: Result;
  readonly next?: Head | undefined;
}

export interface Changed<Result> {
  readonly result: Result;
  /** As it was put, or read last. */
  readonly head: Head;
  /** A put that got no answer may have been made, and was written over since. */
  readonly unsure: boolean;
  readonly prepared: boolean;
}

/** One read unit as long as the document was written by a store; strongly consistent. */
export async function readHead({ client, tableName, document }: Place, signal: AbortSignal): Promise<Head> {
  const get = { TableName: tableName, Key: keyOf(document, HEAD), ConsistentRead: true };
  return headOf((await client.send(new GetItemCommand(get), signal)).Item);
}

/**
 * Reads the head, and puts there what `step` makes of it if it is the same still; otherwise once more, from the reading. A
 * step has to know its own work when it meets it: the answer to a put may have been lost.
 *
 * @param prepare is awaited once, before the first put over this head: for what has to be there when the next one names it
 * @throws ReadOnlyConfigError when it can be read and not written to
 */
export async function changeHead<Result>(
  place: Place,
  step: (head: Head) => Step<Result>,
  signal: AbortSignal,
  prepare: (head: Head) => Promise<void> = async () => {},
): Promise<Changed<Result>> {
  const { client, tableName, document } = place;
  let unsure = false;
  let prepared = false;
  for (;;) {
    const head = await readHead(place, signal);
    const { result, next } = step(head);
    if (next === undefined) return { result, head, unsure, prepared };
    if (!prepared) await prepare(head);
    prepared = true;
    const item = { ...keyOf(document, HEAD), ...attributesOf(next) };
    const put = new PutItemCommand({ TableName: tableName, Item: item, ...sameAs(head) });
    const answer = await writing(place, client.sendIf(put, signal));
    if (answer.made) return { result, head: next, unsure: false, prepared };
    unsure ||= answer.unsure;
  }
}

/** @throws ReadOnlyConfigError in the place of a refusal */
export async function writing<Answer>({ source }: Place, request: Promise<Answer>): Promise<Answer> {
  try {
    return await request;
  } catch (error) {
    if (!BridgeError.is(error) || error.code !== "NOT_AUTHORIZED") throw error;
    throw new ReadOnlyConfigError(
      `${source} can be read and not written to: change it where it comes from, or allow this role to write to the table`,
      { cause: error },
    );
  }
}

/** Holds for exactly this head. */
function sameAs({ current, staged }: Head): Partial<PutItemCommandInput> {
  const names: Record<string, string> = { "#document": "document", "#staged": "staged" };
  const values: PutItemCommandInput["ExpressionAttributeValues"] = {};
  const conditions: string[] = [];
  if (current.kind === "written") {
    names["#revision"] = "revision";
    values[":revision"] = { S: current.revision };
    conditions.push("#revision = :revision AND attribute_not_exists(#document)");
  } else if (current.kind === "by hand") {
    values[":document"] = { S: current.text };
    conditions.push("#document = :document");
  } else throw new TypeError("nothing is put where there is no document");
  if (staged === undefined) conditions.push("attribute_not_exists(#staged)");
  else {
    names["#revision"] = "revision";
    values[":staged"] = { S: staged.revision };
    conditions.push("#staged.#revision = :staged");
  }
  return {
    ConditionExpression: conditions.join(" AND "),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}
