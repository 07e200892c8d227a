import { registerCases } from "../register-cases.ts";
import { configProbationCases, type ConfigProbationSubject } from "./config-probation-cases.ts";

/** Registers the suite of probations that outlast their process in vitest: one test for each case. */
export function describeConfigProbations(name: string, subject: ConfigProbationSubject): void {
  registerCases("configuration probations", name, configProbationCases(subject), subject.except);
}
