import { CST, Lexer } from "yaml";

const REDACTED = "[REDACTED]";
/** Shorter values stand in other words by chance. */
const TELLTALE = 8;
const WORD = /[\p{L}\p{N}_]/u;
/** What the lexer says between the parts of a text. */
const SIGNS: ReadonlySet<string> = new Set([CST.DOCUMENT, CST.FLOW_END, CST.SCALAR]);

/**
 * `text`, which is YAML, with a mark in place of each of `hidden` in its comments: a secret that was replaced is often
 * left there.
 */
export function coveredComments(text: string, hidden: readonly string[]): string {
  if (hidden.length === 0 || !text.includes("#")) return text;
  const longestFirst = hidden.toSorted((a, b) => b.length - a.length);
  let [covered, length, former] = ["", 0, ""];
  for (const part of new Lexer().lex(text)) {
    if (!SIGNS.has(part)) {
      length += part.length;
      covered += part.startsWith("#") && former !== CST.SCALAR ? withoutAny(part, longestFirst) : part;
    }
    former = part;
  }
  // A text with such signs of its own is not known by its parts.
  return length === text.length ? covered : withoutAny(text, longestFirst);
}

function withoutAny(text: string, hidden: readonly string[]): string {
  let shown = text;
  for (const value of hidden) if (shown.includes(value)) shown = without(shown, value);
  return shown;
}

function without(text: string, value: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length)) {
    const end = at + value.length;
    if (value.length < TELLTALE && (WORD.test(text[at - 1] ?? "") || WORD.test(text[end] ?? ""))) continue;
    parts.push(text.slice(from, at), REDACTED);
    from = end;
  }
  return parts.join("") + text.slice(from);
}
