import { dirname } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { base } from "../vitest.ts";

/**
 * One failure ends the run of a mutant. So the tests of its own file come first, then those of its folder, then the others, and of
 * each the quick ones first, where Vitest itself begins with what takes long.
 */
class LikeliestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const source = this.ctx.config.related?.[0] ?? "";
    const ranked = files.map((file) => ({
      file,
      distance: distanceOf(file.moduleId, source),
      lastTook: this.ctx.cache.getTestSpecificationResult(file)?.duration ?? 0,
    }));
    ranked.sort((a, b) => a.distance - b.distance || a.lastTook - b.lastTook);
    return Promise.resolve(ranked.map(({ file }) => file));
  }
}

/** How far the tests in `test/lease/term.test.ts` are from `src/lease/term.ts`: 0, and 1 from the other files of that folder. */
function distanceOf(test: string, source: string): number {
  const [own] = source.replace("/src/", "/test/").split(".ts");
  if (own === undefined || own === "") return 2;
  if (test === `${own}.test.ts`) return 0;
  return dirname(test) === dirname(own) ? 1 : 2;
}

/** How the tests of a package run for each mutant. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    sequence: { sequencer: LikeliestFirst },
    // It waits for seconds on the clock of this machine, and shows what a test clock does, not what the engine does.
    exclude: ["test/define/test-bridge.test.ts"],
    // A mutant that makes a test wait for ever is noticed then, rather than when all of its tests could have ended five times.
    testTimeout: 40_000,
    hookTimeout: 40_000,
  },
});
