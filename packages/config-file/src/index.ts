export { loadConfigFile, type LoadedConfig, type LoadOptions } from "./load-config-file.ts";
export { formatLocatedProblem, type LocatedProblem, type Position } from "./located-problem.ts";
export { type ConfigFile, type ConfigFileOptions, openConfigFile } from "./open-config-file.ts";
export { referenceSources } from "./reference-sources.ts";
export { type WatchSettings } from "./watch-file.ts";
