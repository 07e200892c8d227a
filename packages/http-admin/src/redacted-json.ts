import { REDACTED } from "@bridge/config";

const MAX_DEPTH = 64;
const HIDDEN = JSON.stringify(REDACTED);
const BLANK = /\s/;

/**
 * JSON with the values of these fields taken out, at any depth, and all else as it stands, to the last digit. The names are
 * in lower case and are compared so. `undefined` when it is no JSON, or deeper than 64 levels.
 */
export function redactedJson(text: string, fields: ReadonlySet<string>): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  // From here on it is known to be sound, so that it is enough to tell strings from the rest.
  let [shown, taken, depth, at] = ["", 0, 0, 0];
  while (at < text.length) {
    const character = text[at];
    if (character === "{" || character === "[") {
      if (++depth > MAX_DEPTH) return undefined;
    } else if (character === "}" || character === "]") depth--;
    if (character !== '"') {
      at++;
      continue;
    }
    const end = endOfString(text, at);
    const colon = afterBlanks(text, end);
    if (text[colon] === ":" && fields.has((JSON.parse(text.slice(at, end)) as string).toLowerCase())) {
      const value = afterBlanks(text, colon + 1);
      shown += text.slice(taken, value) + HIDDEN;
      taken = endOfValue(text, value);
      at = taken;
    } else at = end;
  }
  return shown + text.slice(taken);
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && BLANK.test(text.charAt(at))) at++;
  return at;
}

/** Behind the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function endOfValue(text: string, start: number): number {
  if (text[start] === '"') return endOfString(text, start);
  if (text[start] !== "{" && text[start] !== "[") {
    let at = start;
    while (at < text.length && !",}] \t\r\n".includes(text.charAt(at))) at++;
    return at;
  }
  let [at, depth] = [start, 0];
  do {
    const character = text[at];
    if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    at = character === '"' ? endOfString(text, at) : at + 1;
  } while (depth > 0 && at < text.length);
  return at;
}
