import { defineProject } from "vitest/config";
import { base } from "@bridge/tooling/vitest";

export default defineProject({
  ...base,
  // The CDK's own validation takes seconds, so one test asks for it.
  test: { ...base.test, isolate: false, env: { CDK_VALIDATION: "false" } },
});
