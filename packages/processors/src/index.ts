export { circuitBreaker, filter, schema, transform } from "./adapters.ts";
export type * from "./option-types.ts";
