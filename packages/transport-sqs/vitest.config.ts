import { defineProject } from "vitest/config";
import { base } from "@bridge/tooling/vitest";

// The cases of the transport suite run side by side: most of each is waiting for a poll to end.
export default defineProject({ ...base, test: { ...base.test, maxConcurrency: 24 } });
