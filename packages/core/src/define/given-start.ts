import { kindOf, onlyKnown } from "@bridge/ports/internal";
import { givenOptions } from "../given.ts";
import type { StartOptions } from "./define-bridge.ts";

/** Each of them: the compiler says when one is missing here. */
const KNOWN: Readonly<Record<keyof StartOptions, true>> = {
  signal: true,
  logger: true,
  clock: true,
  random: true,
  onConfig: true,
  instanceId: true,
  veils: true,
  tracer: true,
  onJob: true,
};
const LEVELS = ["debug", "info", "warn", "error"] as const;

/** @throws TypeError naming an option that there is not, or what is no logger: its lines would be lost without a word */
export function givenStart(who: string, options: StartOptions): StartOptions {
  const { logger } = onlyKnown(who, givenOptions(options), Object.keys(KNOWN));
  const missing = logger === undefined ? undefined : LEVELS.find((level) => typeof logger?.[level] !== "function");
  if (missing === undefined) return options;
  throw new TypeError(
    `logger is ${kindOf(logger)} without ${missing}(): give it one with ${LEVELS.join(", ")}, such as console`,
  );
}
