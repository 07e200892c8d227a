import { registerCases } from "../register-cases.ts";
import { configStagingCases, type ConfigStagingSubject } from "./config-staging-cases.ts";

/** Registers the suite of configuration stores with staging in vitest: one test for each case. */
export function describeConfigStaging(name: string, subject: ConfigStagingSubject): void {
  registerCases("configuration staging", name, configStagingCases(subject), subject.except);
}
