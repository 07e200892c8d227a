import { createHash } from "node:crypto";
import type { StorePlaces, StoredConfig } from "@bridge/ports";
import { formatLocatedProblem } from "./located-problem.ts";
import { whyNoMap } from "./map-of-keys.ts";
import { MissingFileError, readBytes } from "./read-text.ts";
import type { ReadDocument } from "./text-work.ts";
import { ThreadError } from "./text-thread.ts";

/** More than anybody writes by hand. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** What a file holds at one moment. Two that are equal have the same `identity`. */
export type Content =
  | { readonly kind: "missing"; readonly identity: string }
  | { readonly kind: "unreadable"; readonly identity: string; readonly error: UnreadableConfigError }
  | StoredContent;

export interface StoredContent {
  readonly kind: "stored";
  readonly identity: string;
  readonly stored: StoredConfig;
  readonly bytes: Uint8Array;
  /** What the text says: the document, or nothing. */
  readonly value: unknown;
}

/** Reads the document in a text of so many bytes. */
export type ReadBytes = (bytes: Uint8Array) => ReadDocument | Promise<ReadDocument>;

/** There is a file, but no document in it; the message says why, and where, without quoting it. */
class UnreadableConfigError extends Error {
  override readonly name = "UnreadableConfigError";
}

/**
 * What the file holds now; `known` itself when that is the same, for to read it takes half a second with a thousand
 * routes.
 *
 * Rejects only with the signal's reason.
 */
export async function readContent(
  path: string,
  source: string,
  known: Content | undefined,
  read: ReadBytes,
  signal: AbortSignal,
): Promise<Content> {
  let bytes: Uint8Array;
  try {
    bytes = await readBytes(path, MAX_FILE_BYTES, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof MissingFileError) return { kind: "missing", identity: "missing" };
    return notUsable(source, error);
  }
  const identity = identityOf(bytes);
  if (known?.identity === identity) return known;
  try {
    return storedContent(source, bytes, valueOf(source, await read(bytes)), identity);
  } catch (error) {
    signal.throwIfAborted();
    // What has failed may do better next time.
    if (error instanceof ThreadError) return notUsable(source, error);
    if (error instanceof UnreadableConfigError) return { kind: "unreadable", identity, error };
    return { ...notUsable(source, error), identity };
  }
}

function notUsable(source: string, cause: unknown): Content & { readonly kind: "unreadable" } {
  const message = `${source} the configuration is not usable: ${cause instanceof Error ? cause.message : "it cannot be read"}`;
  return { kind: "unreadable", identity: message, error: new UnreadableConfigError(message, { cause }) };
}

function identityOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function valueOf(source: string, read: ReadDocument): unknown {
  if ("value" in read) return read.value;
  const problems = read.problems.map((problem) => formatLocatedProblem({ file: source, path: [], ...problem }));
  throw new UnreadableConfigError(problems.join("; "));
}

/** What a file of these bytes holds, which say `value`. */
export function storedContent(
  source: string,
  bytes: Uint8Array,
  value: unknown,
  identity = identityOf(bytes),
  places?: StorePlaces,
): StoredContent {
  const why = whyNoMap(value);
  if (why !== undefined) throw new UnreadableConfigError(`${source}:1:1 ${why}`);
  const document = value ?? {};
  const { config_version: version } = document as Record<string, unknown>;
  const stored = {
    version: typeof version === "number" && Number.isSafeInteger(version) && version >= 0 ? version : 0,
    revision: identity,
    document: document as Record<string, unknown>,
    ...(places !== undefined && Object.keys(places).length > 0 && { places }),
  };
  return { kind: "stored", identity, stored, bytes, value };
}
