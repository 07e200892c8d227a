import type { Case, Excuses } from "../case.ts";
import type { ConfigStoreCheck } from "../config-store/check.ts";
import type { ConfigStoreSubject } from "../config-store/config-store-subject.ts";
import { LEFT_CHECKS } from "./left-checks.ts";
import { LEAVING_CHECKS } from "./leaving-checks.ts";
import { NOTING_CHECKS } from "./noting-checks.ts";

const CHECKS = { ...NOTING_CHECKS, ...LEAVING_CHECKS, ...LEFT_CHECKS };

export type ConfigProbationCaseName = keyof typeof CHECKS;

/** A configuration store that can say, after its process has ended, what was on probation. */
export interface ConfigProbationSubject extends Omit<ConfigStoreSubject, "except"> {
  /** What it need not do, and why. */
  readonly except?: Excuses<ConfigProbationCaseName>;
}

/** What is demanded of the probations of a configuration store that one process writes to. Its places have a `reopen`. */
export function configProbationCases(subject: ConfigProbationSubject): readonly Case<ConfigProbationCaseName>[] {
  return Object.entries<ConfigStoreCheck>(CHECKS).map(([name, check]) => ({
    name: name as ConfigProbationCaseName,
    run: (signal) => check(subject, signal),
  }));
}
