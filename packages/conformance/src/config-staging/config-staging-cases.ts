import type { Case, Excuses } from "../case.ts";
import type { ConfigStoreSubject } from "../config-store/config-store-subject.ts";
import type { ConfigStoreCheck } from "./check.ts";
import { CONFIRMING_CHECKS } from "./confirming-checks.ts";
import { REFUSING_CHECKS } from "./refusing-checks.ts";

const CHECKS = { ...CONFIRMING_CHECKS, ...REFUSING_CHECKS };

export type ConfigStagingCaseName = keyof typeof CHECKS;

/** A configuration store with staging. */
export interface ConfigStagingSubject extends Omit<ConfigStoreSubject, "except"> {
  /** What its staging need not do, and why. */
  readonly except?: Excuses<ConfigStagingCaseName>;
}

/** What is demanded of a configuration store that several instances follow, beyond what is demanded of every one. */
export function configStagingCases(subject: ConfigStagingSubject): readonly Case<ConfigStagingCaseName>[] {
  return Object.entries<ConfigStoreCheck>(CHECKS).map(([name, check]) => ({
    name: name as ConfigStagingCaseName,
    run: (signal) => check(subject, signal),
  }));
}
