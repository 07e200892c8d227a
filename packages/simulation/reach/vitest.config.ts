import { fileURLToPath } from "node:url";
import { base } from "@bridge/tooling/vitest";
import { defineConfig } from "vitest/config";

const CORE = "packages/core/src";

/** What no simulation can reach, and why. Everything else of the engine counts, also what no run has loaded. */
const BEYOND: readonly string[] = [
  // Bridges in code: here each one is made from a document.
  `${CORE}/define/**`,
  // What anybody's JavaScript may hand over in the place of a message, a part or a hook.
  `${CORE}/route/{mend-message,sound-envelope,sound-payload,half-characters,kind-of,stack-of}.ts`,
  `${CORE}/runtime/{built-part,plugin-parts}.ts`,
  `${CORE}/given.ts`,
  // What would become of a message, which moves none; and the words for it.
  `${CORE}/route/explain.ts`,
];

export default defineConfig({
  ...base,
  root: fileURLToPath(new URL("../../../", import.meta.url)),
  test: {
    ...base.test,
    include: ["packages/simulation/reach/seeds.ts"],
    coverage: {
      enabled: true,
      provider: "v8",
      include: [`${CORE}/**`],
      exclude: [...BEYOND],
      reporter: ["text", "json", "json-summary"],
    },
  },
});
