/** Looks at what a program hands over that no compiler has seen, before anything is begun. @module */
import type { BridgeConfig } from "@bridge/config";
import { kindOf } from "./route/kind-of.ts";

/** @throws TypeError naming what stands in place of a signal: it would be ignored, or be taken for one that has aborted */
export function givenSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || isSignal(signal)) return signal;
  const given = hasSignal(signal) ? "an object that has one" : kindOf(signal);
  throw new TypeError(`signal is ${given}: give it an AbortSignal, such as AbortSignal.timeout(10_000)`);
}

/** With a signal that is one. @throws TypeError naming what stands in place of options, or of their signal */
export function givenOptions<Options extends { readonly signal?: AbortSignal | undefined }>(options: Options): Options {
  const given = isSignal(options) ? "an AbortSignal" : kindOf(options);
  if (typeof options !== "object" || options === null || isSignal(options))
    throw new TypeError(`options is ${given}: give it an object, such as { signal: AbortSignal.timeout(10_000) }`);
  givenSignal(options.signal);
  return options;
}

/** @throws TypeError naming what stands in place of a configuration, such as a document that nobody has validated */
export function givenConfig(config: BridgeConfig): BridgeConfig {
  const { bridge, routes, stores, configVersion } = (config ?? {}) as Partial<BridgeConfig>;
  if (typeof config === "object" && bridge && Array.isArray(routes) && stores && typeof configVersion === "number")
    return config;
  const given = typeof config === "object" && config !== null ? "no validated configuration" : kindOf(config);
  throw new TypeError(
    `config is ${given}: give it what validateConfig, parseConfig or loadConfigFile resolved to as config`,
  );
}

/** @throws TypeError when they are no list of texts: a text would be taken for a list of letters */
export function givenIds(ids: readonly string[]): readonly string[] {
  if (!Array.isArray(ids)) throw new TypeError(`ids is ${kindOf(ids)}: give it a list of ids`);
  for (const [at, id] of ids.entries())
    if (typeof id !== "string") throw new TypeError(`ids[${at}] is ${kindOf(id)}: give it an id`);
  return ids;
}

function isSignal(value: unknown): value is AbortSignal {
  if (typeof value !== "object" || value === null) return false;
  const { aborted, addEventListener, removeEventListener } = value as Partial<AbortSignal>;
  return (
    typeof aborted === "boolean" && typeof addEventListener === "function" && typeof removeEventListener === "function"
  );
}

/** A controller, or options in the place of their signal. */
function hasSignal(value: unknown): boolean {
  return typeof value === "object" && value !== null && isSignal((value as { readonly signal?: unknown }).signal);
}
