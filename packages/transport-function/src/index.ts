export { type BatchOptions } from "./batch-options.ts";
export { type FunctionMessage } from "./function-message.ts";
export { functionTransport, type Functions } from "./function-transport.ts";
export { handler, type MakeHandler } from "./handler.ts";
export { type Handler } from "./handler-definition.ts";
export { type HandlerOptions } from "./handler-options.ts";
export {
  type BatchFunction,
  type BatchOutcome,
  type HandlerContext,
  type HandlerFunction,
  type SchemaHandlerContext,
  type SchemaHandlerFunction,
} from "./handler-function.ts";
export { type PermanentCode, PermanentError } from "./permanent-error.ts";
export { source } from "./source.ts";
export { type BeginSource, type Source, type SourceContext } from "./source-definition.ts";
export {
  type SchemaOutput,
  type StandardIssue,
  type StandardResult,
  type StandardSchemaV1,
} from "./standard-schema.ts";
export { type SourceItem } from "./yielded.ts";
