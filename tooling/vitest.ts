import { env } from "node:process";
import type { ViteUserConfig } from "vitest/config";
import { PATIENCE } from "./patience.ts";

/** Workspace packages resolve to their sources, so tests need no build. */
const conditions: string[] = ["@bridge/source", "node", "development|production"];

export const base: ViteUserConfig = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    environment: "node",
    include: ["test/**/*.test.ts"],
    // Most of the time of a test goes by waiting for sockets and processes, not in computing.
    maxWorkers: 4,
    // Files change nothing that others see, and to load everything anew for each costs a tenth of the whole.
    isolate: false,
    // Node takes TypeScript by itself: to put each file through a bundler's pipeline costs a tenth more.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ["--conditions=@bridge/source"],
    // They end a test that hangs, and are no verdict on how quick a machine is.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: PATIENCE },
    // One of 10,000 tests that trips over a busy machine stops no landing. The closing line names it; it is a defect all the same.
    retry: env["CI"] === "true" ? 1 : 0,
  },
};
