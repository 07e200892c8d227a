import { describe, expect, it } from "vitest";
import { ConfigError, formatPath, formatProblem } from "../src/index.ts";

describe("a problem", () => {
  it.each([
    [[], ""],
    [["routes", 0, "policy", "backoff"], "routes[0].policy.backoff"],
    [["options", "a b", "c"], 'options["a b"].c'],
    [["x\ny"], '["x\\ny"]'],
    [["__proto__", "$id"], "__proto__.$id"],
  ])("at %j is shown at %s", (path, shown) => {
    expect(formatPath(path)).toBe(shown);
  });

  it("of a long key stays short", () => {
    expect(formatPath(["k".repeat(10_000)]).length).toBeLessThan(100);
  });

  it("without a path is its message", () => {
    expect(formatProblem({ path: [], message: "is empty" })).toBe("is empty");
    expect(formatProblem({ path: ["a"], message: "is empty" })).toBe("a: is empty");
  });

  it("stands on a line of its own in the error", () => {
    const one = { path: ["a"], message: "is empty" };
    expect(new ConfigError([one]).message).toBe("the configuration has a problem:\n  a: is empty");
    expect(new ConfigError([one, one]).message).toMatch(/^the configuration has 2 problems:\n {2}a: .*\n {2}a: /);
  });
});
