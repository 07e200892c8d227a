import { fileURLToPath } from "node:url";
import { defineProject } from "vitest/config";
import { base } from "@bridge/tooling/vitest";

export default defineProject({
  ...base,
  test: {
    ...base.test,
    // The second is an example itself.
    include: ["test/**/*.test.ts", "unit-test/*.test.ts"],
    globalSetup: fileURLToPath(import.meta.resolve("@bridge/tooling/built-bridge")),
  },
});
