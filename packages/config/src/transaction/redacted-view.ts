import type { Slices } from "@bridge/ports";
import { type GenericSchema, getDefault, getMetadata } from "valibot";
import { withoutUsers } from "../check/hidden-values.ts";
import { shapeOf } from "../check/schema-shape.ts";
import { REDACTED } from "../redacted.ts";
import { holdsReference } from "../references.ts";
import { documentSchema } from "../schema/document.ts";
import { isPluginOptions } from "../schema/plugin-options.ts";
import { effective, mapParts, own, schemaFor } from "./effective.ts";

/**
 * A document as operators see it: every default filled in, without plugin options, and with `[REDACTED]` in place of
 * secrets, of whatever comes in through a reference, of the user parts of URLs, and of what is not of the right type.
 */
export function redactedView(document: unknown): Readonly<Record<string, unknown>> {
  return redacted(documentSchema, effective(documentSchema, document)) as Readonly<Record<string, unknown>>;
}

/** The same, made in slices: it takes 50 ms with a thousand routes. */
export async function redactedViewInSlices(
  document: Readonly<Record<string, unknown>>,
  slices: Slices,
): Promise<Readonly<Record<string, unknown>>> {
  const parts: [string, unknown][] = [];
  for (const [key, schema] of Object.entries<GenericSchema>(documentSchema.entries)) {
    const written = own(document, key) ?? getDefault(schema);
    const { item } = shapeOf(schemaFor(schema, written) ?? schema);
    const isList = Array.isArray(written) && item !== undefined;
    parts.push([
      key,
      isList ? await slices.map(written as unknown[], (one) => seen(item, one)) : seen(schema, written),
    ]);
  }
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
}

function seen(schema: GenericSchema, written: unknown): unknown {
  return redacted(schema, effective(schema, written));
}

/** The same for a part of a document that is {@link effective} already. */
export function redacted(schema: GenericSchema, value: unknown): unknown {
  if (isPluginOptions(schema)) return undefined;
  if (value === undefined || value === "") return value;
  if (isSecret(schema)) return REDACTED;
  const inner = schemaFor(schema, value);
  if (inner === undefined || isSecret(inner)) return REDACTED;
  if (typeof value === "string") return holdsReference(value) ? REDACTED : withoutUsers(value);
  return mapParts(inner, value, redacted);
}

function isSecret(schema: GenericSchema): boolean {
  const { wrapped } = shapeOf(schema);
  return getMetadata(schema)["secret"] === true || (wrapped !== undefined && isSecret(wrapped));
}
