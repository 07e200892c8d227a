import type { Case } from "../case.ts";
import type { ConfigStoreCheck } from "./check.ts";
import type { ConfigStoreSubject } from "./config-store-subject.ts";
import { ENDING_CHECKS } from "./ending-checks.ts";
import { HISTORY_CHECKS } from "./history-checks.ts";
import { LOADING_CHECKS } from "./loading-checks.ts";
import { RACING_CHECKS } from "./racing-checks.ts";
import { RESTORING_CHECKS } from "./restoring-checks.ts";
import { TEXT_CHECKS } from "./text-checks.ts";
import { VERSION_CHECKS } from "./version-checks.ts";
import { WATCHING_CHECKS } from "./watching-checks.ts";
import { WRITING_CHECKS } from "./writing-checks.ts";

const CHECKS = {
  ...LOADING_CHECKS,
  ...WRITING_CHECKS,
  ...RESTORING_CHECKS,
  ...RACING_CHECKS,
  ...WATCHING_CHECKS,
  ...HISTORY_CHECKS,
  ...TEXT_CHECKS,
  ...VERSION_CHECKS,
  ...ENDING_CHECKS,
};

export type ConfigStoreCaseName = keyof typeof CHECKS;

/** Everything that is demanded of a configuration store. */
export function configStoreCases(subject: ConfigStoreSubject): readonly Case<ConfigStoreCaseName>[] {
  return Object.entries<ConfigStoreCheck>(CHECKS).map(([name, check]) => ({
    name: name as ConfigStoreCaseName,
    run: (signal) => check(subject, signal),
  }));
}
