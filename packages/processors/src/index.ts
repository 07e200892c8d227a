export { circuitBreakerPlugin } from "./circuit-breaker-plugin.ts";
export { filterPlugin } from "./filter-plugin.ts";
export { schemaPlugin } from "./schema-plugin.ts";
export { transformPlugin } from "./transform-plugin.ts";
export { circuitBreaker, filter, schema, transform } from "./adapters.ts";
export type * from "./option-types.ts";
