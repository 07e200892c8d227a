import { Base64Text } from "./base64-text.ts";
import { textInSlices } from "./text-in-slices.ts";
import type { Slices } from "./turns.ts";

/** Objects are taken apart down to here, lists everywhere above; what is in their elements is written as a whole. */
const MAX_DEPTH = 4;
/** What comes to less than so many characters is written in one piece: taking it apart would cost several times that. */
const LITTLE = 2_048;
/** As so many characters counts each value besides the text that it has. */
const VALUE = 32;

/**
 * As `JSON.stringify`, as UTF-8, written in slices. For answers that have a list with an element for each route, no deeper
 * than in an object in an object.
 */
export function jsonInSlices(value: object, slices: Slices): Promise<Uint8Array> {
  return textInSlices(whole(value), slices);
}

/** The same of several, with `begin` of its place before each and `end` behind it. */
export function jsonLinesInSlices(
  values: Iterable<object>,
  { begin, end }: { readonly begin: (place: number) => string; readonly end: string },
  slices: Slices,
): Promise<Uint8Array> {
  return textInSlices(linesOf(values, begin, end), slices);
}

function* linesOf(values: Iterable<object>, begin: (place: number) => string, end: string): Generator<string> {
  let place = 0;
  for (const value of values) {
    const before = begin(place++);
    if (isLittle(value)) yield before + JSON.stringify(value) + end;
    else {
      yield before;
      yield* jsonParts(value, 0);
      yield end;
    }
  }
}

function* whole(value: object): Generator<string> {
  if (isLittle(value)) yield JSON.stringify(value);
  else yield* jsonParts(value, 0);
}

function isLittle(value: object): boolean {
  return roomBehind(value, LITTLE) >= 0;
}

/** What is left of the room when all of this is in it; negative as soon as that is sure to be less than nothing. */
function roomBehind(value: unknown, room: number): number {
  if (typeof value === "string") return room - VALUE - value.length;
  let left = room - VALUE;
  if (typeof value !== "object" || value === null) return left;
  if (value instanceof Base64Text) return -1;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = roomBehind(value[at], left);
    return left;
  }
  for (const key in value) {
    left = roomBehind((value as Readonly<Record<string, unknown>>)[key], left - key.length);
    if (left < 0) return left;
  }
  return left;
}

function* jsonParts(value: unknown, depth: number): Generator<string> {
  if (value instanceof Base64Text) {
    yield '"';
    yield* value.parts();
    yield '"';
  } else if (depth >= MAX_DEPTH || typeof value !== "object" || value === null || "toJSON" in value) {
    yield JSON.stringify(value) ?? "null";
  } else if (Array.isArray(value)) {
    let before = "[";
    for (const element of value as readonly unknown[]) {
      yield before;
      yield JSON.stringify(element) ?? "null";
      before = ",";
    }
    yield before === "[" ? "[]" : "]";
  } else {
    let before = "{";
    for (const [key, part] of Object.entries(value)) {
      if (part === undefined || typeof part === "function" || typeof part === "symbol") continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* jsonParts(part, depth + 1);
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  }
}
