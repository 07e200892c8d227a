export { circuitBreaker, filter, schema, transform } from "./adapters.ts";
export { type ThreadAdapter, type ThreadOptions } from "./thread-adapter.ts";
export type * from "./option-types.ts";
