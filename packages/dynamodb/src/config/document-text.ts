import { BridgeError, type StoredConfig } from "@bridge/ports";
import { repeatedKey } from "@bridge/ports/internal";

/** An item has 400 KiB at most; what else is in it is far less than the difference. */
export const MAX_DOCUMENT_BYTES = 400_000;

/** There is an item, but no document in it; the message says why, without quoting it. */
export class UnreadableConfigError extends Error {
  override readonly name = "UnreadableConfigError";
}

/** @throws BridgeError `PAYLOAD_TOO_LARGE` when it would not fit into an item */
export function textOf(document: StoredConfig["document"], version: number, source: string): string {
  const text = JSON.stringify({ ...document, config_version: version });
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_DOCUMENT_BYTES)
    throw new BridgeError(
      "PAYLOAD_TOO_LARGE",
      `${source}: the configuration has ${bytes} bytes as JSON; ${MAX_DOCUMENT_BYTES} at most can be stored`,
    );
  return text;
}

/** @throws UnreadableConfigError */
export function storedOf(text: string, revision: string, source: string): StoredConfig {
  const document = parsed(text, source);
  if (typeof document !== "object" || document === null || Array.isArray(document))
    throw new UnreadableConfigError(`${source}: the configuration is not a map of keys to values`);
  const { config_version: version } = document as Record<string, unknown>;
  return {
    version: typeof version === "number" && Number.isSafeInteger(version) && version >= 0 ? version : 0,
    revision,
    document: document as Record<string, unknown>,
  };
}

function parsed(text: string, source: string): unknown {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    // The engine's message may quote the text.
    const [place = ""] = / \(line \d+ column \d+\)$/.exec((error as Error).message) ?? [];
    throw new UnreadableConfigError(`${source}: the configuration is not valid JSON${place}`);
  }
  // The parser takes the last one without a word.
  const repeated = repeatedKey(text);
  if (repeated !== undefined)
    throw new UnreadableConfigError(`${source}: the key "${repeated.slice(0, 64)}" is there twice: remove one of them`);
  return document;
}
