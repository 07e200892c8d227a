import type * as v from "valibot";
import type { Problem } from "../problem.ts";
import { checkValue } from "./check-value.ts";
import { HiddenValues, secretPaths } from "./hidden-values.ts";

export type StrictlyChecked<Output> =
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Holds a document of any kind against its schema, as strictly as a configuration: every problem at once, each with its
 * place, a suggestion where a known word is near, and no value of a secret. Never throws.
 */
export function checkStrictly<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): StrictlyChecked<v.InferOutput<Schema>> {
  const hidden = new HiddenValues(value);
  hidden.hide(secretPaths(schema, value));
  const { output, problems } = checkValue(schema, value, [], hidden);
  return problems.length === 0 ? { ok: true, output: output as v.InferOutput<Schema> } : { ok: false, problems };
}
