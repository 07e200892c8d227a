import { joined, repeatedKey, type Said, toldText } from "@bridge/ports/internal";
import type * as v from "valibot";
import { halfCharacterIn } from "./half-character.ts";
import { HttpError } from "./http-error.ts";
import { jsonFault } from "./json-fault.ts";
import { at, firstOf, nameOf, parse } from "./problems.ts";
import { listsForObjects } from "./schema-at.ts";

const INVALID_BODY = "invalid request body";

/** What was sent, and the text that says it. */
interface Sent {
  readonly value: object;
  readonly json: string;
}

/**
 * No body at all is one only where the schema is optional.
 * @throws HttpError 400 naming each field that is wrong or given twice, to its caller with the value where that may be shown
 */
export function decodeBody<Schema extends v.GenericSchema>(schema: Schema, bytes: Uint8Array): v.InferOutput<Schema> {
  const read = bytes.length === 0 && isOptional(schema) ? parse(schema, undefined) : readBy(schema, parseJson(bytes));
  if ("value" in read) return read.value;
  throw invalidBody(read.problem);
}

/** The same for one text of many: what it says, or what whoever sent it is told of it. `schemaOf` is asked once it is a JSON object. */
export function decodeLine<Schema extends v.GenericSchema>(
  bytes: Uint8Array,
  schemaOf: (value: object) => Schema,
): { readonly value: v.InferOutput<Schema> } | { readonly problem: string } {
  let sent: Sent;
  try {
    sent = parseJson(bytes);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { problem: error.told.slice(`${INVALID_BODY}: `.length) };
  }
  const read = readBy(schemaOf(sent.value), sent);
  return "value" in read ? read : { problem: toldText(read.problem) };
}

function readBy<Schema extends v.GenericSchema>(
  schema: Schema,
  { value, json }: Sent,
): { readonly value: v.InferOutput<Schema> } | { readonly problem: Said } {
  const half = halfCharacterIn(value, json);
  if (half !== undefined) return { problem: at(half.keys, schema, half.problem) };
  const lists = [...listsForObjects(schema, value)];
  if (lists.length === 0) return parse(schema, value);
  const problem: Said = ["expected a JSON object", { sent: " (got an array)" }];
  return { problem: firstOf(lists.map((keys) => at(keys, schema, problem))) };
}

export function isOptional(schema: v.GenericSchema): boolean {
  return schema.type === "optional";
}

function parseJson(bytes: Uint8Array): Sent {
  const json = textOf(bytes);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw invalidBody(jsonFault(json));
  }
  // The schema library takes an array for an object.
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalidBody("expected a JSON object");
  const repeated = repeatedKey(json);
  if (repeated !== undefined) throw invalidBody(["the key ", { sent: `"${nameOf(repeated)}" ` }, "is given twice"]);
  return { value, json };
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidBody("is no UTF-8");
  }
}

function invalidBody(problem: Said): HttpError {
  return new HttpError(400, joined([`${INVALID_BODY}: `, problem]));
}
