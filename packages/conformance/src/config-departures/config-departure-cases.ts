import type { Case, Excuses } from "../case.ts";
import type { ConfigStoreCheck } from "../config-store/check.ts";
import type { ConfigStoreSubject } from "../config-store/config-store-subject.ts";
import { DEPARTURE_CHECKS } from "./departure-checks.ts";
import { ELSEWHERE_CHECKS } from "./elsewhere-checks.ts";

const CHECKS = { ...DEPARTURE_CHECKS, ...ELSEWHERE_CHECKS };

export type ConfigDepartureCaseName = keyof typeof CHECKS;

/** A configuration store that remembers, beyond the end of its process, a document whose stores are being left. */
export interface ConfigDepartureSubject extends Omit<ConfigStoreSubject, "except"> {
  /** What it need not do, and why. */
  readonly except?: Excuses<ConfigDepartureCaseName>;
}

/** What is demanded of the departures of a configuration store. */
export function configDepartureCases(subject: ConfigDepartureSubject): readonly Case<ConfigDepartureCaseName>[] {
  return Object.entries<ConfigStoreCheck>(CHECKS).map(([name, check]) => ({
    name: name as ConfigDepartureCaseName,
    run: (signal) => check(subject, signal),
  }));
}
