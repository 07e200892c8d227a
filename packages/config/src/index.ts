export { emptyConfig } from "./empty-config.ts";
export type * from "./model.ts";
export { ConfigError, formatPath, formatProblem, type Path, type Problem } from "./problem.ts";
export { configJsonSchema } from "./published/json-schema.ts";
export { configReference } from "./published/reference-page.ts";
export { type ReferenceSources, resolveReferences, type ResolvedDocument } from "./references.ts";
export { createRegistry, type Plugins, type Registry } from "./registry.ts";
export { noStoreFactory } from "./store-factory.ts";
export { parseConfig, validateConfig, type ValidateOptions, type Validation } from "./validate.ts";
