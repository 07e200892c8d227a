import { defineProject } from "vitest/config";
import { base } from "@bridge/tooling/vitest";

// Generous bounds: they end a test that hangs, and decide nothing else.
export default defineProject({
  ...base,
  test: { ...base.test, testTimeout: 30_000, expect: { poll: { timeout: 20_000 } } },
});
