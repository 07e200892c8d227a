import { type GenericSchema, getDefault } from "valibot";
import { fitsType, innermost, isBlock, shapeOf } from "../check/schema-shape.ts";
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
