import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["packages/*", "apps/*", "bench", "deploy/aws", "examples", "tooling"],
    reporters: ["default", "./tooling/closing-line.ts"],
    coverage: { provider: "v8", include: ["packages/*/src/**", "apps/*/src/**"], reporter: ["text", "json-summary"] },
  },
});
