import { Ajv } from "ajv";

const ajv = new Ajv({ strict: false, validateFormats: false });

/** What a JSON Schema finds wrong with a value. */
export function problemWith(schema: object, value: unknown): string | undefined {
  return ajv.validate(schema, value) ? undefined : ajv.errorsText();
}
