import { defineProject } from "vitest/config";
import { base } from "@bridge/tooling/vitest";

export default defineProject({
  ...base,
  test: { ...base.test, include: ["{torture,outage,pairs,soak,compare}/test/**/*.test.ts"] },
});
