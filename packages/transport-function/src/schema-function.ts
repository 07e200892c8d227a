import { fittingValue } from "./fitting-value.ts";
import type { FunctionMessage } from "./function-message.ts";
import type {
  HandlerContext,
  HandlerFunction,
  SchemaHandlerContext,
  SchemaHandlerFunction,
} from "./handler-function.ts";
import { isThenable } from "@bridge/ports/internal";
import type { StandardSchemaV1 } from "./standard-schema.ts";

/** Handles the JSON payloads that fit `schema`; others are `INVALID_PAYLOAD`. */
export function schemaFunction(schema: StandardSchemaV1, run: SchemaHandlerFunction<never>): HandlerFunction {
  return (message, context) => {
    const value = fittingValue(schema, message.json());
    const both = new MessageContext(message, context);
    return isThenable(value) ? value.then((fits) => run(fits as never, both)) : run(value as never, both);
  };
}

/** Asks for the signal only when it is asked for it. */
class MessageContext implements SchemaHandlerContext {
  readonly message: FunctionMessage;
  readonly #context: HandlerContext;

  constructor(message: FunctionMessage, context: HandlerContext) {
    this.message = message;
    this.#context = context;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }
}
