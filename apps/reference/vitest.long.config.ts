import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { base } from "@bridge/tooling/vitest";

/** What takes minutes: `pnpm test:long` at the top of the repository. Needs Mosquitto with its clients, RabbitMQ, and NATS. */
export default defineConfig({
  ...base,
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    ...base.test,
    include: ["{apps/*,packages/*,bench/*,examples}/test-long/**/*.test.ts"],
    globalSetup: fileURLToPath(import.meta.resolve("@bridge/tooling/built-bridge")),
    reporters: ["default", fileURLToPath(import.meta.resolve("@bridge/tooling/closing-line"))],
    // One after another: each measures a machine that it has to itself.
    fileParallelism: false,
    testTimeout: 600_000,
  },
});
