/** A value, and where it stands. */
interface Place {
  readonly value: unknown;
  readonly key?: string | number;
  readonly within?: Place;
}

const HALF = /\p{Surrogate}/u;

/** Where half of a character stands in what JSON has said, with what is wrong there. */
export interface HalfCharacter {
  readonly keys: readonly PropertyKey[];
  readonly problem: string;
}

/**
 * The first text, be it a name, with half of a character in it, as a program leaves that cuts a text within an emoji. JSON can say it with
 * an escape, and UTF-8 cannot: a store would refuse it or keep another text, and a filter matches nothing. Goes as deep as the value.
 */
export function halfCharacterIn(value: unknown): HalfCharacter | undefined {
  const open: Place[] = [{ value }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value: found } = place;
    if (typeof found === "string") {
      if (!found.isWellFormed()) return { keys: keysTo(place), problem: problemOf(found, "") };
      continue;
    }
    if (typeof found !== "object" || found === null) continue;
    const isList = Array.isArray(found);
    // The last one is looked at first.
    for (const [key, part] of Object.entries(found).toReversed()) {
      if (!key.isWellFormed()) return { keys: keysTo(place), problem: problemOf(key, "a name ") };
      open.push({ value: part, key: isList ? Number(key) : key, within: place });
    }
  }
  return undefined;
}

function problemOf(text: string, which: string): string {
  const at = text.search(HALF);
  const unit = text.charCodeAt(at).toString(16);
  return `${which}has half of a character, \\u${unit} at ${at + 1}: give whole Unicode characters`;
}

function keysTo(place: Place): readonly PropertyKey[] {
  const keys: PropertyKey[] = [];
  for (let one: Place | undefined = place; one?.key !== undefined; one = one.within) keys.unshift(one.key);
  return keys;
}
