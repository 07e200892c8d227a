import { defineFactory, type PluginContext, type ProcessorPlugin } from "@bridge/ports";
import { readSmallFileSync } from "@bridge/ports/internal";
import { describe, fileToRead } from "@bridge/ports/options";
import * as v from "valibot";
import { boundOptions, IsolatedProcessor } from "./isolated-processor.ts";
import { type Schema, schemaProblem } from "./schema-validator.ts";
import type { Program } from "./thread-adapter.ts";

/** The largest schema file, in bytes. */
const MAX_FILE = 1_048_576;

const options = v.pipe(
  v.strictObject({
    schema: describe(
      v.optional(
        v.pipe(
          v.record(v.string(), v.unknown()),
          v.check(
            (schema) => schemaProblem(schema) === undefined,
            ({ input }) => `not a JSON Schema (2020-12): ${schemaProblem(input)}`,
          ),
        ),
      ),
      "The JSON Schema (2020-12) that payloads must fit.",
    ),
    file: describe(
      v.optional(fileToRead()),
      "A JSON file with the schema, relative to the working directory; read when the bridge is built.",
    ),
    ...boundOptions,
  }),
  v.check(({ schema, file }) => (schema === undefined) !== (file === undefined), "needs either schema or file"),
  v.metadata({ oneOf: [{ required: ["schema"] }, { required: ["file"] }] }),
);

/**
 * The processor `schema`: fails messages whose payload does not fit a JSON Schema, as `SCHEMA_VIOLATION`; looks at them in
 * threads that run `program`.
 */
export function schemaPluginOf(program: Program): ProcessorPlugin {
  return {
    type: "schema",
    ...defineFactory({
      options,
      create: ({ schema: inline, file, timeout, max_bytes: maxBytes }, context: PluginContext) => {
        const schema = inline ?? readSchema(context.id, file ?? "");
        const bounds = { timeoutMs: timeout, maxBytes };
        return new IsolatedProcessor({ kind: "schema", schema }, bounds, program(context.id), context);
      },
    }),
  };
}

/** Read while the bridge is put together, so that a missing file or a bad schema is told before anything is stopped. */
function readSchema(id: string, path: string): Schema {
  const about = `processor "${id}": the schema file "${path}"`;
  let schema: unknown;
  try {
    schema = JSON.parse(readSmallFileSync(path, MAX_FILE).toString("utf8"));
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? "it is not JSON" : (cause as Error).message;
    throw new Error(`${about} cannot be read: ${reason}`, { cause });
  }
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new Error(`${about} holds no JSON object`);
  }
  const problem = schemaProblem(schema as Schema);
  if (problem !== undefined) throw new Error(`${about} is not a JSON Schema (2020-12): ${problem}`);
  return schema as Schema;
}
