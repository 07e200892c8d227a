import { defineProject } from "vitest/config";
import { base } from "@bridge/tooling/vitest";

// The SDK is large, and no file leaves anything behind: it is loaded once a worker.
export default defineProject({ ...base, test: { ...base.test, isolate: false } });
