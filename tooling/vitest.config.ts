import { defineProject } from "vitest/config";
import { base } from "./vitest.ts";

export default defineProject({ ...base, test: { ...base.test, name: "@bridge/tooling" } });
