import * as v from "valibot";
import { describe } from "./options.ts";
import { patternProblem } from "./pattern.ts";

const FIELD = /^(?:subject|header\.[!#$%&'*+.^_`|~0-9A-Za-z-]+|\$(?:\.[^.[\]]+|\[\d+\])+)$/;

/** What of a message to look at; the output has header names in lower case. */
export function messageField() {
  return describe(
    v.pipe(
      v.string("expected a string"),
      v.regex(
        FIELD,
        'not a field: write "subject", "header.<name>" or a path into a JSON payload, such as "$.device.kind"',
      ),
      v.transform((text) => (text.startsWith("header.") ? text.toLowerCase() : text)),
    ),
    "What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`.",
  );
}

const finite = () => v.pipe(v.number("expected a number"), v.finite("expected a number"));
const scalar = () => v.union([v.string(), finite(), v.boolean()], "expected a string, a number, true or false");
const value = <const Schema extends v.GenericSchema>(schema: Schema) => describe(schema, "What to compare with.");

/** One test of a message. The operator decides which values make sense. */
export const conditionSchema = v.variant("op", [
  v.strictObject({
    field: messageField(),
    op: describe(
      v.picklist(["eq", "ne", "contains"]),
      "Equal; not equal; a part of the text or an element of the list.",
    ),
    value: value(scalar()),
  }),
  v.strictObject({
    field: messageField(),
    op: describe(v.literal("prefix"), "The text begins with the value."),
    value: value(v.string("expected a string")),
  }),
  v.strictObject({
    field: messageField(),
    op: describe(
      v.literal("regex"),
      "The regular expression, in the syntax of RE2 and with at most 4,096 characters, matches somewhere in the text.",
    ),
    value: value(
      v.pipe(
        v.string("expected a regular expression"),
        v.check(
          (pattern) => patternProblem(pattern) === undefined,
          ({ input }) => `not a regular expression of RE2: ${patternProblem(input)}`,
        ),
      ),
    ),
  }),
  v.strictObject({
    field: messageField(),
    op: describe(v.picklist(["gt", "gte", "lt", "lte"]), "Greater or less; numbers as numbers, text as text."),
    value: value(v.union([v.string(), finite()], "expected a number or a string")),
  }),
  v.strictObject({
    field: messageField(),
    op: describe(v.literal("in"), "Equal to one of a list."),
    value: value(v.pipe(v.array(scalar(), "expected a list"), v.minLength(1, "must hold at least one value"))),
  }),
  v.strictObject({
    field: messageField(),
    op: describe(v.literal("exists"), "The field is there, or is not."),
    value: describe(v.optional(v.boolean(), true), "`true`: the field must be there. `false`: it must not."),
  }),
]);
