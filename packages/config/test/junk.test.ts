import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatProblem, resolveReferences, validateConfig } from "../src/index.ts";
import { goodDocument, withValue } from "./support/documents.ts";
import { registry } from "./support/plugins.ts";

const SOURCES = { env: () => undefined, file: () => Promise.reject(new Error("no files")) };
const NEVER = new AbortController().signal;

function expectVerdict(document: unknown): void {
  const result = validateConfig(document, registry);
  if (result.ok) {
    expect(result.config.bridge.id).not.toBe("");
    return;
  }
  expect(result.problems.length).toBeGreaterThan(0);
  for (const problem of result.problems) expect(formatProblem(problem)).not.toMatch(/undefined|\[object|Expected/);
}

const WORDS =
  "bridge http stores dlq sessions receivers senders bindings processors routes id type transport options session_id resolver rules when op field value map policy backoff binding default_binding topics audit file".split(
    " ",
  );
const KEYS = [...WORDS, "__proto__", "constructor", "toString"];
const VALUES = ["", "mqtt", "http", "memory", "in", "30s", "-1s", "rules", "all", "eq", "(", "$", "${env:X}", "*"];

/** JSON whose keys and strings are mostly words that the schema knows, but in any order. */
const nearlyConfig = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: "large" },
    fc.constantFrom<unknown>(...VALUES, null, true, 0, 1, -1, 1.5),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie("value"), { maxKeys: 6 }),
  ),
})).value;

/** The good document with `value` at a place; unchanged when the place lies in a string or number. */
function spoil(keys: readonly string[], value: unknown): unknown {
  try {
    return withValue(keys.join("."), value);
  } catch {
    return goodDocument();
  }
}

describe("any document", { timeout: 30_000 }, () => {
  it("of JSON becomes a configuration or problems", () => {
    fc.assert(fc.property(fc.jsonValue(), expectVerdict));
  });

  it("of known words in any order becomes a configuration or problems", () => {
    fc.assert(fc.property(nearlyConfig, expectVerdict), { numRuns: 1000 });
  });

  it("that was good before somebody changed a place becomes a configuration or problems", () => {
    const spoiled = fc.tuple(
      fc.array(fc.constantFrom(...WORDS, "0", "1"), { minLength: 1, maxLength: 4 }),
      nearlyConfig,
    );
    fc.assert(
      fc.property(
        spoiled.map(([keys, value]) => spoil(keys, value)),
        expectVerdict,
      ),
      { numRuns: 1000 },
    );
  });

  it("keeps its meaning when its references are looked for", async () => {
    await fc.assert(
      fc.asyncProperty(nearlyConfig, async (document) => {
        const { document: copy, problems } = await resolveReferences(document, SOURCES, NEVER);
        expect(copy).toEqual(document);
        for (const { message } of problems) expect(message).toContain("X");
      }),
    );
  });

  it("tells a bounded number of problems, and how many more there are", () => {
    const document = { ...goodDocument(), routes: Array.from({ length: 3000 }, () => 5) };
    const result = validateConfig(document, registry);
    const problems = result.ok ? [] : result.problems;
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)?.message).toBe("and 2000 more");
  });
});
