export { noStoreFactory } from "./no-store-factory.ts";
export type * from "./model.ts";
export { ConfigError, formatPath, formatProblem, type Problem } from "./problem.ts";
export { createRegistry, type Plugins, type Registry } from "./registry.ts";
