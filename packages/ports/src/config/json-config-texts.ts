import { ConfigTextError, type ConfigTexts } from "./config-texts.ts";
import { repeatedKey } from "../repeated-key.ts";

/** For stores that keep documents as JSON: the texts are printed, so that people can read them. */
export const jsonConfigTexts: ConfigTexts = {
  async of({ document }, signal) {
    signal.throwIfAborted();
    return { format: "json", text: printed(document) };
  },
  async read(text, signal) {
    signal.throwIfAborted();
    return documentIn(text);
  },
  async edit(_text, document, _hidden, signal) {
    signal.throwIfAborted();
    return printed(document);
  },
};

function printed(document: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function documentIn(text: string): Readonly<Record<string, unknown>> {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    // The engine's message may quote the text.
    const [place = ""] = / \(line \d+ column \d+\)$/.exec((error as Error).message) ?? [];
    throw new ConfigTextError(`it is not valid JSON${place}`);
  }
  if (typeof document !== "object" || document === null || Array.isArray(document))
    throw new ConfigTextError("it is not a map of keys to values");
  // The parser takes the last one without a word.
  const repeated = repeatedKey(text);
  if (repeated !== undefined)
    throw new ConfigTextError(`the key "${repeated.slice(0, 64)}" is there twice: remove one of them`);
  return document as Readonly<Record<string, unknown>>;
}
