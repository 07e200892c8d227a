const BLANKS = /[ \t\n\r]*/y;
/** Between the quotes all but control characters, quotes and backslashes stand for themselves. */
const TOKEN =
  /[{}[\],:]|"[ !#-[\]-\u{10FFFF}]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[ !#-[\]-\u{10FFFF}]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|true|false|null/uy;

/** What may come next. */
type Next = "value" | "value or end" | "key" | "key or end" | "colon" | "comma or end";

/**
 * Where a text that `JSON.parse` refuses stops being JSON: in words that do not quote it, as its errors do, which do not always say where.
 * On a single line that is a column, else a line and a column.
 */
export function jsonFault(text: string): string {
  const at = firstFault(text);
  const before = text.slice(0, at).split("\n");
  const column = (before.at(-1) ?? "").length + 1;
  const place = text.includes("\n") ? `line ${before.length}, column ${column}` : `column ${column}`;
  return at === text.length ? `the JSON is not complete: it ends at ${place}` : `is no JSON at ${place}`;
}

/** The beginning of the first token that is none, or cannot stand there. */
function firstFault(text: string): number {
  const open: string[] = [];
  let next: Next = "value";
  for (let at = 0; ;) {
    at += read(BLANKS, text, at).length;
    const token = read(TOKEN, text, at);
    const after: Next | undefined = token === "" ? undefined : nextAfter(token, next, open);
    if (after === undefined) return at;
    next = after;
    at += token.length;
  }
}

function read(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** `undefined` when it cannot stand there. `open` holds what ends each object and list around it. */
function nextAfter(token: string, next: Next, open: string[]): Next | undefined {
  const mayBeValue = next === "value" || next === "value or end";
  switch (token) {
    case "{":
    case "[":
      if (!mayBeValue) return undefined;
      open.push(token === "{" ? "}" : "]");
      return token === "{" ? "key or end" : "value or end";
    case "}":
    case "]":
      return next.endsWith("or end") && open.pop() === token ? "comma or end" : undefined;
    case ",":
      if (next !== "comma or end") return undefined;
      return open.at(-1) === "}" ? "key" : open.at(-1) === "]" ? "value" : undefined;
    case ":":
      return next === "colon" ? "value" : undefined;
    default:
      if (mayBeValue) return "comma or end";
      return token.startsWith('"') && next.startsWith("key") ? "colon" : undefined;
  }
}
