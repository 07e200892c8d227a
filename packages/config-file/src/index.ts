export { loadConfigFile, type LoadedConfig, type LoadOptions } from "./load-config-file.ts";
export { formatLocatedProblem, type LocatedProblem, type Position } from "./located-problem.ts";
