import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends the run with one plain line: "tests: 12 passed, 0 failed, 1 skipped". A line before it names each test that failed at
 * first and passed when it was tried again, with what it failed of.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    let [passed, failed, skipped] = [0, errors.length, 0];
    const flaky: string[] = [];
    for (const module of modules) {
      const before = failed;
      for (const test of module.children.allTests()) {
        const { state, errors: failures } = test.result();
        if (test.diagnostic()?.flaky === true) {
          flaky.push(
            `${module.project.name} ${module.relativeModuleId} > ${test.fullName}: ${failures?.[0]?.message ?? "it said nothing"}`,
          );
        }
        if (state === "passed") passed++;
        else if (state === "failed") failed++;
        else skipped++;
      }
      if (module.state() === "failed" && failed === before) failed++;
    }
    process.on("exit", () => {
      for (const line of flaky) console.log(`flaky: ${line}`);
      console.log(`tests: ${passed} passed, ${failed} failed, ${skipped} skipped`);
    });
  }
}
