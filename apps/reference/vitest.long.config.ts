import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { base } from "@bridge/tooling/vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Those that `npm test` does in part. */
const inPart = globSync("{apps,packages}/*/test/**/*.test.ts", { cwd: root }).filter((file) =>
  readFileSync(join(root, file), "utf8").includes('"@bridge/tooling/long"'),
);

/** What takes minutes: `pnpm test:long` at the top of the repository. Needs Mosquitto with its clients, RabbitMQ, and NATS. */
export default defineConfig({
  ...base,
  root,
  test: {
    ...base.test,
    include: [
      "{apps/*,packages/*,bench/*,examples}/test-long/**/*.test.ts",
      ...inPart.map((file) => file.replaceAll("\\", "/")),
    ],
    env: { BRIDGE_TEST_LONG: "1" },
    globalSetup: fileURLToPath(import.meta.resolve("@bridge/tooling/built-bridge")),
    reporters: ["default", fileURLToPath(import.meta.resolve("@bridge/tooling/closing-line"))],
    // One after another: each measures a machine that it has to itself.
    fileParallelism: false,
    testTimeout: 600_000,
    retry: 0,
  },
});
