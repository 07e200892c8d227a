import { createAuditor } from "@bridge/audit";
import { silentLogger, systemClock } from "@bridge/ports";
import { expect, test } from "vitest";
import { createAdminApp } from "../src/index.ts";
import { ADMIN_KEY } from "./admin.ts";

const auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [] });

function create(options: Readonly<Record<string, unknown>>): () => unknown {
  const keys = { adminApiKey: ADMIN_KEY };
  return () => createAdminApp({ supervisor: () => undefined, auditor, keys, ...options });
}

test.each(["operationTimeoutMs", "redriveTimeoutMs"])("%s is a time above 0", (name) => {
  for (const value of [Number.NaN, -1, 0, Infinity, null])
    expect(create({ [name]: value })).toThrow(`${name} is ${value}`);
  expect(create({ [name]: 1 })).not.toThrow();
  expect(create({ [name]: undefined })).not.toThrow();
});

test("keys and authenticate of another kind are refused by name, and never shown", () => {
  expect(create({ keys: null })).toThrow("keys is null");
  expect(create({ keys: ADMIN_KEY })).toThrow("keys is of type string");
  expect(create({ keys: undefined, authenticate: null })).toThrow("authenticate is null");
  expect(create({ keys: undefined, authenticate: "x" })).toThrow("authenticate is of type string");
});
