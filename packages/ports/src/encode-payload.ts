import { types } from "node:util";

/** What JSON can say. A property that is `undefined` is left out. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** A payload as programs have it: bytes, or text, which is sent as UTF-8, or any other JSON value, which is sent as JSON. */
export type CodePayload = Uint8Array | JsonValue;

export interface EncodedPayload {
  readonly payload: Uint8Array;
  /** `application/json` for what was neither bytes nor text. */
  readonly contentType?: string;
}

/** What is nested deeper is refused. */
const MAX_DEPTH = 100;
/** Of the place of a problem so much is told: it may be as long as the payload is deep. */
const MAX_PLACE = 100;
const encoder = new TextEncoder();

/** @throws TypeError naming `field`, or what in it is neither bytes nor text nor a JSON value */
export function encodePayload(value: CodePayload, field = "payload"): EncodedPayload {
  if (typeof value === "string") {
    if (!value.isWellFormed()) {
      throw new TypeError(
        `${field} has half a character (a lone surrogate), which UTF-8 cannot say: give it whole text, or bytes`,
      );
    }
    return { payload: encoder.encode(value) };
  }
  if (types.isUint8Array(value)) {
    if (value.buffer instanceof ArrayBuffer && value.buffer.detached) {
      throw new TypeError(`${field} has given its memory away: hand over a copy`);
    }
    return { payload: value };
  }
  const problem = problemOf(value, field);
  if (problem !== undefined) throw new TypeError(problem);
  return { payload: encoder.encode(JSON.stringify(value)), contentType: "application/json" };
}

/** A getter may throw, and so may a proxy, whatever is asked of it. */
function problemOf(value: unknown, field: string): string | undefined {
  try {
    return jsonProblem(value, field, []);
  } catch (cause) {
    throw new TypeError(`${field} cannot be read: ${REMEDY}`, { cause });
  }
}

/** @param around what the value stands in, from the outside; is as it was when nothing was found */
function jsonProblem(value: unknown, place: string, around: object[]): string | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number")
    return Number.isFinite(value) ? undefined : `${shown(place)} is ${value}, which JSON cannot say`;
  if (typeof value !== "object") return `${shown(place)} is ${nameOf(value)}: ${REMEDY}`;
  if (around.includes(value)) return `${shown(place)} is what it stands in, which JSON cannot say: leave it out`;
  if (around.length === MAX_DEPTH) return `${shown(place)} is nested more than ${MAX_DEPTH} levels deep`;
  if (Array.isArray(value)) return problemWithin(value, value.entries(), (index) => `${place}[${index}]`, around);
  if ("toJSON" in value && isOfNoClass(value))
    return `${shown(place)} has a toJSON: give it what that returns, or leave it out`;
  if (!isPlain(value)) return `${shown(place)} is ${nameOf(value)}: ${REMEDY}`;
  const parts = Object.entries(value).filter(([, part]) => part !== undefined);
  return problemWithin(value, parts, (key) => `${place}.${key}`, around);
}

function problemWithin<Key>(
  value: object,
  parts: Iterable<readonly [Key, unknown]>,
  placeOf: (key: Key) => string,
  around: object[],
): string | undefined {
  around.push(value);
  for (const [key, part] of parts) {
    const problem = jsonProblem(part, placeOf(key), around);
    if (problem !== undefined) return problem;
  }
  around.pop();
  return undefined;
}

function shown(place: string): string {
  return place.length <= MAX_PLACE ? place : `${place.slice(0, MAX_PLACE)}…`;
}

const REMEDY = "give it text, bytes (a Uint8Array) or a JSON value of plain objects and lists";

/** Anything else is more than its JSON would say, such as a date, a map or a view of memory. */
function isPlain(value: object): boolean {
  return isOfNoClass(value) && !("toJSON" in value);
}

function isOfNoClass(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return value === undefined ? "undefined" : `a ${typeof value}`;
  const maker: unknown = value.constructor;
  return typeof maker === "function" && maker.name !== "" ? `an object of ${maker.name}` : "no plain object";
}
