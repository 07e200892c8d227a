import { registerCases } from "../register-cases.ts";
import { configDepartureCases, type ConfigDepartureSubject } from "./config-departure-cases.ts";

/** Registers the suite of departures in vitest: one test for each case. */
export function describeConfigDepartures(name: string, subject: ConfigDepartureSubject): void {
  registerCases("configuration departures", name, configDepartureCases(subject), subject.except);
}
