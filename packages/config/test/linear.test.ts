import { atOnce } from "@bridge/ports/internal";
import { cpuTime } from "@bridge/tooling/cpu-time";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withoutUsers } from "../src/check/hidden-values.ts";
import { type Path, validateConfig } from "../src/index.ts";
import { REDACTED } from "../src/redacted.ts";
import { holdsReference } from "../src/references.ts";
import { redactedView } from "../src/transaction/redacted-view.ts";
import { goodDocument, type Json } from "./support/documents.ts";
import { registry } from "./support/plugins.ts";

const LENGTH = 16_384;

/** What somebody may put into a document who may write one: the worst that is known, of each kind that something reads. */
const TEXTS: Readonly<Record<string, string>> = {
  letters: "x",
  digits: "1",
  schemes: "a://",
  users: "a://b@",
  durations: "1m",
  references: "${env:A}",
  "references that never end": "${env:",
  placeholders: "{a}",
  braces: "{",
  dots: "a.",
  slashes: "/",
  colons: ":",
  "line breaks": "\n",
  marks: "\u0315\u0316",
};

/** Where a document has a value, and where it could have one more. */
function placesOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const inside = Object.entries(value).flatMap(([key, part]) =>
    placesOf(part, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return Array.isArray(value) ? inside : [...inside, [...path, "unknown"]];
}

function documentWith(path: Path, text: string): unknown {
  const document = goodDocument();
  let block = document;
  for (const key of path.slice(0, -1)) block = block[key] as Json;
  block[path.at(-1)!] = text;
  if (path.at(-1) === "unknown") block[text] = "a key";
  return document;
}

function check(document: unknown, text: string): void {
  validateConfig(document, registry);
  atOnce(redactedView(document));
  holdsReference(text);
}

describe("to check a document takes time in proportion to it", () => {
  test.each(Object.entries(TEXTS))("%s, in every place", async (_, unit) => {
    for (const path of placesOf(goodDocument())) {
      const checking = (length: number) => {
        const text = unit.repeat(length / unit.length);
        const document = documentWith(path, text);
        return () => check(document, text);
      };
      const [once, fourTimes] = [checking(LENGTH), checking(4 * LENGTH)];
      // Sixteen times as much would be the square; anything short may meet a collection of garbage.
      const [least, most] = [Math.max(await cpuTime(once), 50), await cpuTime(fourTimes)];
      expect({ path, isLinear: most < 10 * least }).toEqual({ path, isLinear: true });
    }
  });
});

test("the user's part of a URL is what stands between its scheme and the last @ of the word", () => {
  const words = fc
    .array(fc.constantFrom("a", "Z", "1", "+", "-", ".", ":", "/", "://", "@", " ", "\n", "é"))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(words, (text) => {
      expect(withoutUsers(text)).toBe(text.replaceAll(/([a-z][a-z0-9+.-]*:\/\/)\S*@/gi, `$1${REDACTED}@`));
    }),
    { numRuns: 2_000 },
  );
});
