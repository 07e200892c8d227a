import { defineConfig } from "vitest/config";
import { base } from "./vitest.ts";

/** For a Node that cannot run the sources: they are lowered to what the published packages are built for. */
export default defineConfig({
  ...base,
  oxc: { target: "node22.19" },
  test: {
    ...base.test,
    include: ["packages/{ports,config,core,file,dlq-file,dlq-memory}/test/**/*.test.ts"],
    // They start programs from the sources, or measure by what this Node lacks.
    exclude: ["**/{crash,checkpoint,descriptors,failed-sync}.test.ts", "packages/config/test/linear.test.ts"],
    experimental: {},
  },
});
