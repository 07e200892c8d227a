import { defineFactory, isReserved, type PluginContext, type ProcessorPlugin } from "@bridge/ports";
import { describe, text } from "@bridge/ports/options";
import * as v from "valibot";
import { MAX_EXPRESSION, syntaxProblem } from "./expression-syntax.ts";
import { boundOptions, IsolatedProcessor } from "./isolated-processor.ts";
import type { Program } from "./thread-adapter.ts";

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MAX_HEADERS = 64;

const expression = () =>
  v.pipe(
    text(),
    v.maxLength(MAX_EXPRESSION, `an expression has at most ${MAX_EXPRESSION} characters`),
    v.check(
      (written) => syntaxProblem(written) === undefined,
      ({ input }) => `not a JSONata expression: ${syntaxProblem(input)}`,
    ),
  );

const headerName = () =>
  v.pipe(
    v.string(),
    v.regex(HEADER_NAME, "not a header name"),
    v.check(
      (name) => !isReserved(name),
      "headers whose names begin with x-bridge. belong to the bridge: use another name",
    ),
    v.transform((name) => name.toLowerCase()),
  );

const options = v.pipe(
  v.strictObject({
    payload: describe(
      v.optional(expression()),
      "A JSONata expression for the new payload, which is written as JSON. Sets the content type to application/json.",
    ),
    subject: describe(v.optional(expression()), "A JSONata expression for the new subject."),
    content_type: describe(v.optional(expression()), "A JSONata expression for the new content type."),
    headers: describe(
      v.optional(
        v.pipe(v.record(headerName(), expression()), v.maxEntries(MAX_HEADERS, `at most ${MAX_HEADERS} headers`)),
        {},
      ),
      "JSONata expressions for headers, by name; one that gives nothing, or null, removes the header.",
    ),
    ...boundOptions,
  }),
  v.check(
    ({ payload, subject, content_type: contentType, headers }) =>
      [payload, subject, contentType].some((written) => written !== undefined) || Object.keys(headers).length > 0,
    "changes nothing: give payload, subject, content_type or headers",
  ),
  v.metadata({
    anyOf: [
      ...["payload", "subject", "content_type"].map((key) => ({ required: [key] })),
      { required: ["headers"], properties: { headers: { minProperties: 1 } } },
    ],
  }),
);

/**
 * The processor `transform`: makes payload, subject, content type and headers anew by JSONata expressions, in threads that run
 * `program`.
 */
export function transformPluginOf(program: Program): ProcessorPlugin {
  return {
    type: "transform",
    ...defineFactory({
      options,
      create: (
        { payload, subject, content_type: contentType, headers, timeout, max_bytes: maxBytes },
        context: PluginContext,
      ) => {
        const bounds = { timeoutMs: timeout, maxBytes };
        const config = { payload, subject, contentType, headers, ...bounds };
        return new IsolatedProcessor({ kind: "transform", config }, bounds, program(context.id), context);
      },
    }),
  };
}
