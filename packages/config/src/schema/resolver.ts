import { conditionSchema } from "@bridge/ports/conditions";
import { describe, oneOrList } from "@bridge/ports/options";
import * as v from "valibot";
import { id } from "./id.ts";

const choice = () => oneOrList(id(), { uniqueItems: true });
const defaultBinding = () =>
  describe(
    v.optional(choice()),
    "The binding, or a list of them, when nothing else matches. Default: the message fails as BINDING_UNRESOLVED.",
  );

const ruleSchema = v.strictObject({
  when: describe(oneOrList(conditionSchema), "A condition, or a list of them that must all hold."),
  binding: describe(choice(), "The binding to send to, or a list of them."),
});

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The `resolver` of a route: which of its bindings get a message. A choice is one id or a list of ids. */
export const resolverSchema = v.variant("type", [
  v.strictObject({ type: describe(v.literal("all"), "Every binding of the route.") }),
  v.strictObject({
    type: describe(v.literal("static"), "The same bindings for each message."),
    binding: describe(choice(), "The binding to send to, or a list of them."),
  }),
  v.strictObject({
    type: describe(v.literal("rules"), "By rules on subject, headers and payload."),
    rules: describe(v.optional(v.array(ruleSchema), []), "The first rule that matches wins."),
    default_binding: defaultBinding(),
  }),
  v.strictObject({
    type: describe(v.literal("header_map"), "By the exact value of one header."),
    header: describe(
      v.pipe(
        v.string("expected a string"),
        v.regex(HEADER_NAME, "not a header name"),
        v.transform((name) => name.toLowerCase()),
      ),
      "The header to look at.",
    ),
    map: describe(v.record(v.string(), choice()), "From a value of the header to a binding, or a list of them."),
    default_binding: defaultBinding(),
  }),
]);
