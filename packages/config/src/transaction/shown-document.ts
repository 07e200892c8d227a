import { type GenericSchema, getMetadata } from "valibot";
import type { Steps } from "@bridge/ports/internal";
import { LEAST_TELLTALE, secretPaths, TELLTALE, withoutUsers } from "../check/hidden-values.ts";
import { piecesOf } from "../check/pieces.ts";
import { fitsType, isBlock, partsOf, shapeOf } from "../check/schema-shape.ts";
import type { Path } from "../problem.ts";
import { REDACTED } from "../redacted.ts";
import { withoutReferences } from "../references.ts";
import type { Registry } from "../registry.ts";
import { isPluginOptions } from "../schema/plugin-options.ts";
import { writtenOptions } from "../written-options.ts";

type Document = Readonly<Record<string, unknown>>;

/** A document as people wrote it, as it may be shown. */
export interface ShownDocument {
  /** With `[REDACTED]` in place of each value that must not be seen, or of the part of it. */
  readonly document: Document;
  /** How many these are. */
  readonly redacted: number;
  /** The secrets themselves: they must not be seen in comments either. */
  readonly hidden: readonly string[];
}

/**
 * Hides what stands in a document literally: secrets, the user parts of URLs, and whatever no schema knows, for that
 * may be a secret under a name that was mistyped. References are shown.
 */
export function* shownDocument(document: Document, registry: Registry): Steps<ShownDocument> {
  const known = new Known();
  for (const { path, schema, value } of piecesOf(document)) {
    known.add(path, schema, value);
    yield;
  }
  try {
    for (const { path, schema, value } of writtenOptions(document, registry)) {
      known.add(path, schema, value);
      yield;
    }
  } catch {
    // Of a document that is no configuration: options that are not known are hidden.
  }
  const showing = new Showing(known);
  const parts: [string, unknown][] = [];
  for (const [key, part] of Object.entries(document)) {
    parts.push([key, Array.isArray(part) ? yield* showing.elements(part, [key]) : showing.show(part, [key])]);
    yield;
  }
  return { document: Object.fromEntries(parts), redacted: showing.redacted, hidden: [...known.secrets] };
}

/** What the schemas say of the places of a document. */
class Known {
  readonly secrets = new Set<string>();
  readonly #secret = new Set<string>();
  /** Whose value is of the right type, and which holds nothing that is not known. */
  readonly #leaves = new Set<string>();

  add(path: Path, schema: GenericSchema, value: unknown): void {
    for (const place of secretPaths(schema, value, path)) this.#secret.add(JSON.stringify(place));
    for (const text of secretTexts(schema, value)) if (text.length >= LEAST_TELLTALE) this.secrets.add(text);
    for (const place of leaves(schema, value, path)) this.#leaves.add(JSON.stringify(place));
  }

  isSecret(path: Path): boolean {
    return this.#secret.has(JSON.stringify(path));
  }

  isLeaf(path: Path): boolean {
    return this.#leaves.has(JSON.stringify(path));
  }
}

class Showing {
  readonly #known: Known;
  redacted = 0;

  constructor(known: Known) {
    this.#known = known;
  }

  *elements(list: readonly unknown[], path: Path): Steps<unknown[]> {
    const shown: unknown[] = [];
    for (const [index, element] of list.entries()) {
      shown.push(this.show(element, [...path, index]));
      yield;
    }
    return shown;
  }

  show(value: unknown, path: Path, isSecret = false, isKnown = false): unknown {
    const secret = isSecret || this.#known.isSecret(path);
    const known = isKnown || this.#known.isLeaf(path);
    if (Array.isArray(value))
      return (value as readonly unknown[]).map((part, index) => this.show(part, [...path, index], secret, known));
    if (isBlock(value)) {
      const parts = Object.entries(value).map(
        ([key, part]) => [key, this.show(part, [...path, key], secret, known)] as const,
      );
      return Object.fromEntries(parts);
    }
    if (typeof value !== "string" && typeof value !== "number") return value;
    const shown = secret || !known ? wholly(value) : this.#open(value);
    if (shown !== value) this.redacted++;
    return shown;
  }

  /** A value that is no secret by itself. */
  #open(value: string | number): string | number {
    if (typeof value === "number") return value;
    if (value.length > TELLTALE && this.#known.secrets.has(value)) return REDACTED;
    // A user that comes in through references alone gives nothing away.
    const bare = withoutReferences(value).replaceAll(/:\/\/:?@/g, "://");
    return withoutUsers(bare) === bare ? value : withoutUsers(value);
  }
}

/** References name a secret without telling it. */
function wholly(value: string | number): string | number {
  return value === "" || (typeof value === "string" && withoutReferences(value) === "") ? value : REDACTED;
}

/** The places of values that are of the type that a schema is for, and of those that may hold anything. */
function* leaves(schema: GenericSchema, value: unknown, path: Path): Generator<Path> {
  if (isPluginOptions(schema)) return;
  const parts = partsOf(schema, value);
  const wraps = parts.some((part) => part.path.length === 0);
  const { type } = shapeOf(schema);
  if (!wraps && (typeof value !== "object" || type === "unknown") && fitsType(schema, value)) yield path;
  for (const part of parts) yield* leaves(part.schema, part.value, [...path, ...part.path]);
}

function* secretTexts(schema: GenericSchema, value: unknown, isSecret = false): Generator<string> {
  const secret = isSecret || getMetadata(schema)["secret"] === true;
  if (secret) yield* literalTexts(value);
  else for (const part of partsOf(schema, value)) yield* secretTexts(part.schema, part.value);
}

function* literalTexts(value: unknown): Generator<string> {
  if (typeof value === "string" && withoutReferences(value) !== "") yield value;
  else if (typeof value === "number") yield String(value);
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) yield* literalTexts(part);
}
