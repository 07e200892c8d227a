import { createHash } from "node:crypto";
import type { StoredConfig } from "@bridge/ports";
import { formatLocatedProblem } from "./located-problem.ts";
import { parseDocument } from "./parse-document.ts";
import { MissingFileError, readBytes, textOf } from "./read-text.ts";

/** More than anybody writes by hand. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** What a file holds at one moment. Two that are equal have the same `identity`. */
export type Content =
  | { readonly kind: "missing"; readonly identity: string }
  | { readonly kind: "unreadable"; readonly identity: string; readonly error: UnreadableConfigError }
  | { readonly kind: "stored"; readonly identity: string; readonly stored: StoredConfig; readonly bytes: Uint8Array };

/** There is a file, but no document in it; the message says why, and where, without quoting it. */
class UnreadableConfigError extends Error {
  override readonly name = "UnreadableConfigError";
}

/**
 * What the file holds now; `known` itself when that is the same, for to parse it takes half a second with a thousand routes.
 *
 * Rejects only with the signal's reason.
 */
export async function readContent(
  path: string,
  source: string,
  known: Content | undefined,
  signal: AbortSignal,
): Promise<Content> {
  let bytes: Uint8Array;
  try {
    bytes = await readBytes(path, MAX_FILE_BYTES, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof MissingFileError) return { kind: "missing", identity: "missing" };
    const message = `${source} the configuration is not usable: ${error instanceof Error ? error.message : "it cannot be read"}`;
    return { kind: "unreadable", identity: message, error: new UnreadableConfigError(message, { cause: error }) };
  }
  return contentOf(bytes, source, known);
}

export function contentOf(bytes: Uint8Array, source: string, known?: Content): Content {
  const identity = createHash("sha256").update(bytes).digest("hex");
  if (known?.identity === identity) return known;
  try {
    return { kind: "stored", identity, stored: storedOf(textOf(bytes), identity, source), bytes };
  } catch (error) {
    if (error instanceof UnreadableConfigError) return { kind: "unreadable", identity, error };
    const message = `${source} the configuration is not usable: ${(error as Error).message}`;
    return { kind: "unreadable", identity, error: new UnreadableConfigError(message, { cause: error }) };
  }
}

function storedOf(text: string, revision: string, source: string): StoredConfig {
  const parsed = parseDocument(text);
  if ("problems" in parsed) {
    const problems = parsed.problems.map((problem) => formatLocatedProblem({ file: source, path: [], ...problem }));
    throw new UnreadableConfigError(problems.join("; "));
  }
  const document = parsed.value ?? {};
  if (typeof document !== "object" || Array.isArray(document)) {
    throw new UnreadableConfigError(`${source}:1:1 the configuration is not a map of keys to values`);
  }
  const { config_version: version } = document as Record<string, unknown>;
  return {
    version: typeof version === "number" && Number.isSafeInteger(version) && version >= 0 ? version : 0,
    revision,
    document: document as Record<string, unknown>,
  };
}
