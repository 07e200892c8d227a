import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { base } from "../vitest.ts";

/** One failure ends the run of a mutant: so what is quick comes first, where Vitest itself begins with what takes long. */
class ShortestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => this.#lastTook(a) - this.#lastTook(b)));
  }

  #lastTook(file: TestSpecification): number {
    return this.ctx.cache.getTestSpecificationResult(file)?.duration ?? 0;
  }
}

/** How the tests of a package run for each mutant. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    sequence: { sequencer: ShortestFirst },
    // A mutant that makes a test wait for ever is noticed then, rather than when all of its tests could have ended five times.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
