import { defineProject } from "vitest/config";
import { base } from "@bridge/tooling/vitest";

// One of the tests is a short torture, with brokers and processes of its own.
export default defineProject({
  ...base,
  test: { ...base.test, include: ["{torture,outage,pairs,soak}/test/**/*.test.ts"], testTimeout: 120_000 },
});
