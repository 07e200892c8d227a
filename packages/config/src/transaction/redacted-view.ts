import type { Steps } from "@bridge/ports/internal";
import { type GenericSchema, getMetadata } from "valibot";
import { withoutUsers } from "../check/hidden-values.ts";
import { shapeOf } from "../check/schema-shape.ts";
import { REDACTED } from "../redacted.ts";
import { holdsReference } from "../references.ts";
import { isPluginOptions } from "../schema/plugin-options.ts";
import { effective, mapDocument, mapParts, schemaFor } from "./effective.ts";

/**
 * A document as operators see it: every default filled in, without plugin options, and with `[REDACTED]` in place of
 * secrets, of whatever comes in through a reference, of the user parts of URLs, and of what is not of the right type.
 */
export function redactedView(document: unknown): Steps<Readonly<Record<string, unknown>>> {
  return mapDocument(document, (schema, written) => redacted(schema, effective(schema, written)));
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
