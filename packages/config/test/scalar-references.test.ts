import { describe, expect, test } from "vitest";
import { checkDocument, formatProblem } from "../src/index.ts";
import { goodDocument, withValue } from "./support/documents.ts";
import { registry } from "./support/plugins.ts";

const read = async (path: string, text: string, document = goodDocument()) => {
  const sources = { env: () => text, file: () => Promise.reject(new Error("it is not there")) };
  return checkDocument(withValue(path, "${env:X}", document), registry, sources, AbortSignal.timeout(10_000));
};

describe("finding 4.5: a reference in place of a number or of true and false", () => {
  test.each([
    ["routes.0.policy.max_in_flight", "7", 7],
    ["routes.0.policy.backoff.jitter", "0.5", 0.5],
  ])("%s is what the text says: %s", async (path, text, wanted) => {
    const checked = await read(path, text);
    if (!checked.ok) throw new Error(checked.problems.map(formatProblem).join());
    const { policy } = checked.config.routes[0] ?? {};
    expect([policy?.maxInFlight, policy?.backoff.jitter]).toContain(wanted);
  });

  test("true is true", async () => {
    const checked = await read("routes.0.policy.allow_unfenced", "true");
    expect(checked.ok && checked.config.routes[0]?.policy.allowUnfenced).toBe(true);
  });

  const rule = (when: unknown) => [{ when, binding: "to-out" }];
  test.each([
    ["a condition", "value", { field: "subject", op: "exists" }],
    [
      "one of a list of conditions",
      "1.value",
      [
        { field: "$.a", op: "eq", value: 1 },
        { field: "$.b", op: "exists" },
      ],
    ],
  ])("the value of %s is false", async (_, place, when) => {
    const document = withValue("routes.0.resolver.rules", rule(structuredClone(when)));
    const checked = await read(`routes.0.resolver.rules.0.when.${place}`, "false", document);
    if (!checked.ok) throw new Error(checked.problems.map(formatProblem).join());
    const { resolver } = checked.config.routes[0] ?? {};
    expect(JSON.stringify(resolver)).toContain('"op":"exists","value":false');
  });

  test("a word in place of the true or false of a condition is refused, and is not shown", async () => {
    const document = withValue("routes.0.resolver.rules", rule({ field: "subject", op: "exists" }));
    const checked = await read("routes.0.resolver.rules.0.when.value", "perhaps", document);
    expect(checked.ok ? [] : checked.problems.map(formatProblem)).toEqual([
      "routes[0].resolver.rules[0].when.value: expected true or false",
    ]);
  });

  test.each(["seven", "", "7 8", "0x7", "true"])("%j is no number, and is not shown", async (text) => {
    const checked = await read("routes.0.policy.max_in_flight", text);
    expect(checked.ok).toBe(false);
    expect(checked.ok ? [] : checked.problems.map(formatProblem)).toEqual([
      expect.stringMatching(/^routes\[0\]\.policy\.max_in_flight: expected an integer from 1 to 100000$/),
    ]);
  });
});
