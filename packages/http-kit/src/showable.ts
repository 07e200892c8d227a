import type * as v from "valibot";
import { wrappedBy } from "./schema-at.ts";

/**
 * Metadata of a text that can be no secret and no part of a message, such as a time: when one is refused, whoever sent it is shown it.
 * Another text is shown to nobody.
 */
export function showable<Value>(): v.BaseMetadata<Value> {
  return { kind: "metadata", type: SHOWABLE, reference: showable };
}

export const SHOWABLE = "showable";

/** Where a number, a truth value or a word of a list belongs, there is no place for a secret. */
const NO_TEXT: ReadonlySet<string> = new Set(["boolean", "literal", "number", "picklist"]);

/** Whether a value that this schema has refused may be shown; one that has no schema may be anything. */
export function isShowable(schema: v.GenericSchema | undefined): boolean {
  if (schema === undefined) return false;
  if (NO_TEXT.has(schema.type) || pipeOf(schema).some(({ type }) => type === SHOWABLE)) return true;
  const within = wrappedBy(schema) ?? pipeOf(schema)[0];
  return within !== undefined && within !== schema && isShowable(within as v.GenericSchema);
}

function pipeOf(schema: v.GenericSchema): readonly { readonly type: string }[] {
  return (schema as { readonly pipe?: readonly { readonly type: string }[] }).pipe ?? [];
}
