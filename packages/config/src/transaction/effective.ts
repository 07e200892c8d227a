import { mapped, type Steps } from "@bridge/ports/internal";
import { type GenericSchema, getDefault } from "valibot";
import { fitsType, innermost, isBlock, shapeOf } from "../check/schema-shape.ts";
import { documentSchema } from "../schema/document.ts";
import { isPluginOptions } from "../schema/plugin-options.ts";

/**
 * A document, or a part of one, with every default filled in, as people would have written it: durations with their
 * units, references unresolved. What the schema does not know is left out, what is of the wrong type stays.
 */
export function effective(schema: GenericSchema, written: unknown): unknown {
  const value = written ?? getDefault(schema);
  if (value === undefined || isPluginOptions(schema)) return value;
  return mapParts(schema, value, effective);
}

/** A whole document with every default filled in. */
export function effectiveDocument(document: unknown): Steps<Readonly<Record<string, unknown>>> {
  return mapDocument(document, effective);
}

/** Calls `visit` for each section of a document, written or not, and for each element of those that are lists. */
export function* mapDocument(
  document: unknown,
  visit: (schema: GenericSchema, value: unknown) => unknown,
): Steps<Readonly<Record<string, unknown>>> {
  const parts: [string, unknown][] = [];
  for (const [key, schema] of Object.entries<GenericSchema>(documentSchema.entries)) {
    const written = own(document, key) ?? getDefault(schema);
    const { item } = shapeOf(schemaFor(schema, written) ?? schema);
    const isList = Array.isArray(written) && item !== undefined;
    parts.push([key, isList ? yield* mapped(written as unknown[], (one) => visit(item, one)) : visit(schema, written)]);
  }
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
}

/** Calls `visit` for each part of `value` that the schema knows, written or not; `undefined` leaves the part out. */
export function mapParts(
  schema: GenericSchema,
  value: unknown,
  visit: (schema: GenericSchema, value: unknown) => unknown,
): unknown {
  const { item, entries, value: record } = shapeOf(schemaFor(schema, value) ?? schema);
  if (Array.isArray(value)) return item === undefined ? value : value.map((element: unknown) => visit(item, element));
  if (!isBlock(value)) return value;
  const parts =
    entries !== undefined
      ? Object.entries(entries).map(([key, entry]) => [key, visit(entry, own(value, key))] as const)
      : Object.entries(value).map(([key, part]) => [key, record === undefined ? part : visit(record, part)] as const);
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
}

/** The schema that says what is in `value`; `undefined` when it is of a type that none is for. */
export function schemaFor(schema: GenericSchema, value: unknown): GenericSchema | undefined {
  return innermost(schema, value).find((inner) => fitsType(inner, value));
}

/** What a block has under `key` by itself. */
export function own(block: unknown, key: string): unknown {
  return isBlock(block) && Object.hasOwn(block, key) ? block[key] : undefined;
}
