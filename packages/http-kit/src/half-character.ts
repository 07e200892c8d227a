/** A list or an object that is looked through. */
interface Open {
  readonly parts: Readonly<Record<string, unknown>>;
  /** Absent: it is a list. */
  readonly names: readonly string[] | undefined;
  readonly count: number;
  next: number;
}

const HALF = /\p{Surrogate}/u;
/** UTF-8 cannot say half of a character, so that only an escape brings one. */
const ESCAPED = /\\u[dD][89a-fA-F]/;

/** Where half of a character stands in what JSON has said, with what is wrong there. */
export interface HalfCharacter {
  readonly keys: readonly PropertyKey[];
  readonly problem: string;
}

/**
 * The first text, be it a name, with half of a character in it, as a program leaves that cuts a text within an emoji. JSON can say it with
 * an escape, and UTF-8 cannot: a store would refuse it or keep another text, and a filter matches nothing. Goes as deep as the value,
 * which is what `json` says.
 */
export function halfCharacterIn(value: unknown, json: string): HalfCharacter | undefined {
  if (!ESCAPED.test(json)) return undefined;
  const open: Open[] = [];
  for (let found = value; ;) {
    if (typeof found === "string") {
      if (!found.isWellFormed()) return { keys: open.map(keyOf), problem: problemOf(found, "") };
    } else if (typeof found === "object" && found !== null) open.push(opened(found));
    let last = open.at(-1);
    while (last !== undefined && last.next === last.count) {
      open.pop();
      last = open.at(-1);
    }
    if (last === undefined) return undefined;
    const name = last.names?.[last.next];
    if (name?.isWellFormed() === false)
      return { keys: open.slice(0, -1).map(keyOf), problem: problemOf(name, "a name ") };
    found = last.parts[name ?? last.next];
    last.next++;
  }
}

function opened(found: object): Open {
  const parts = found as Readonly<Record<string, unknown>>;
  const names = Array.isArray(found) ? undefined : Object.keys(found);
  return { parts, names, count: names?.length ?? (found as readonly unknown[]).length, next: 0 };
}

/** Of the part that was taken of it last. */
function keyOf({ names, next }: Open): PropertyKey {
  return names?.[next - 1] ?? next - 1;
}

function problemOf(text: string, which: string): string {
  const at = text.search(HALF);
  const unit = text.charCodeAt(at).toString(16);
  return `${which}has half of a character, \\u${unit} at ${at + 1}: give whole Unicode characters`;
}
