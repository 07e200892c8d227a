import { defineProject } from "vitest/config";
import { base } from "@bridge/tooling/vitest";

export default defineProject(base);
