import { registerCases } from "../register-cases.ts";
import { configStoreCases } from "./config-store-cases.ts";
import type { ConfigStoreSubject } from "./config-store-subject.ts";

/** Registers the suite of configuration stores in vitest: one test for each case. */
export function describeConfigStore(name: string, subject: ConfigStoreSubject): void {
  registerCases("configuration store", name, configStoreCases(subject), subject.except);
}
