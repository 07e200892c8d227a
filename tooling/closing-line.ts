import type { Reporter, TestModule } from "vitest/node";

/** Ends the run with one plain line: "tests: 12 passed, 0 failed, 1 skipped". */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    let [passed, failed, skipped] = [0, errors.length, 0];
    for (const module of modules) {
      const before = failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed++;
        else if (state === "failed") failed++;
        else skipped++;
      }
      if (module.state() === "failed" && failed === before) failed++;
    }
    process.on("exit", () => console.log(`tests: ${passed} passed, ${failed} failed, ${skipped} skipped`));
  }
}
