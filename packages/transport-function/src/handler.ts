import { batchBounds, type BatchOptions } from "./batch-options.ts";
import { BatchSender } from "./batch-sender.ts";
import { FUNCTIONS } from "./function-maker.ts";
import { FunctionSender } from "./function-sender.ts";
import { noGeneratorFunction } from "./generators.ts";
import { Handler } from "./handler-definition.ts";
import { checkOptions, type HandlerOptions } from "./handler-options.ts";
import type { BatchFunction, HandlerFunction, SchemaHandlerFunction } from "./handler-function.ts";
import { kindOf } from "@bridge/ports/internal";
import { schemaFunction } from "./schema-function.ts";
import type { SchemaOutput, StandardSchemaV1 } from "./standard-schema.ts";

/** Makes targets of functions. */
export interface MakeHandler {
  /**
   * A target that hands each message to `run`. Calls overlap: as many run as the routes hold messages in flight.
   *
   * @example
   * handler(async (message, { signal }) => save(message.json<Order>(), signal));
   */
  (run: HandlerFunction, options?: HandlerOptions): Handler;
  /**
   * A target for JSON payloads that fit `schema`, of any library that implements Standard Schema. What does not fit is
   * `INVALID_PAYLOAD`, and goes by `on_permanent_failure`.
   *
   * @example
   * handler(z.object({ id: z.string() }), async (order, { message, signal }) => save(order.id, signal));
   */
  <const Schema extends StandardSchemaV1>(
    schema: Schema,
    run: SchemaHandlerFunction<SchemaOutput<Schema>>,
    options?: HandlerOptions,
  ): Handler;
  /**
   * A target that hands messages to `run` together. `run` returns nothing when all are accepted, throws when all have failed,
   * or returns an array that has for each message an `Error` or `undefined`.
   *
   * @example
   * handler.batch(async (messages, { signal }) => insert(messages.map((message) => message.json()), signal), { size: 500 });
   */
  batch(run: BatchFunction, options?: BatchOptions): Handler;
}

/** Makes a target of a function. @throws TypeError when it is none */
export const handler: MakeHandler = Object.assign(single, { batch });

function single(first: unknown, second?: unknown, third?: unknown): Handler {
  const withSchema = typeof second === "function" || isSchema(first);
  const run = withSchema ? schemaFunction(schemaOf(first), runOf(second)) : singleFunction(first);
  const options = withSchema ? third : second;
  checkOptions("handler", options, ["rate_limit"]);
  return new Handler(FUNCTIONS, (name) => new FunctionSender(name, run), options as HandlerOptions | undefined);
}

function batch(run: BatchFunction, options?: BatchOptions): Handler {
  if (typeof run !== "function") throw new TypeError(`handler.batch takes a function of messages, not ${kindOf(run)}`);
  const bounds = batchBounds(options);
  noGeneratorFunction("handler.batch", run);
  return new Handler(FUNCTIONS, (name, seams) => new BatchSender(name, run, bounds, seams), options);
}

function singleFunction(run: unknown): HandlerFunction {
  if (typeof run !== "function") throw new TypeError(`handler takes a function of a message, not ${kindOf(run)}`);
  return noGeneratorFunction("handler", run as HandlerFunction);
}

function runOf(run: unknown): SchemaHandlerFunction<never> {
  if (typeof run === "function") return noGeneratorFunction("handler", run as SchemaHandlerFunction<never>);
  if (run === undefined)
    throw new TypeError("handler has a schema and no function: give it both, handler(schema, run)");
  throw new TypeError(`handler takes a schema and a function of its value, and the function is ${kindOf(run)}`);
}

function schemaOf(schema: unknown): StandardSchemaV1 {
  if (isSchema(schema)) return schema;
  throw new TypeError(
    `handler takes a schema before the function, of a library that implements Standard Schema, not ${kindOf(schema)}`,
  );
}

/** A schema of some libraries is a function itself. */
function isSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const { "~standard": standard } = value as { readonly "~standard"?: { readonly validate?: unknown } };
  return typeof standard?.validate === "function";
}
