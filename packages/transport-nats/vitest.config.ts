import { defineProject } from "vitest/config";
import { base } from "@bridge/tooling/vitest";

// Brokers are started and stopped here, on machines that may be busy with other things.
export default defineProject({ ...base, test: { ...base.test, testTimeout: 60_000, hookTimeout: 60_000 } });
