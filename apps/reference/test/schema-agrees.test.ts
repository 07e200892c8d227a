import fc from "fast-check";
import { checkDocument, createRegistry, formatProblem } from "@bridge/config";
import { describe, expect, test } from "vitest";
import { plugins } from "../src/compose.ts";
import { Agreement } from "./support/agreement.ts";
import { RICH_DOCUMENTS } from "./support/rich-documents.ts";
import { placesIn, put, spoiled, valueAt } from "@bridge/tooling/spoiled";

describe("finding 6.14: the JSON Schema and the binary", () => {
  test("both take the documents in which everything is written", () => {
    const agreement = new Agreement();
    expect(RICH_DOCUMENTS.map((document) => agreement.difference(document))).toEqual(
      RICH_DOCUMENTS.map(() => undefined),
    );
    expect(agreement.counts).toEqual({ refused: 0, taken: RICH_DOCUMENTS.length });
  });

  test("say the same of documents that were spoiled, but for what no schema can say", () => {
    const agreement = new Agreement();
    fc.assert(
      fc.property(spoiled(RICH_DOCUMENTS), (document) => {
        expect(agreement.difference(document)).toBeUndefined();
      }),
      { numRuns: 300, seed: 614 },
    );
    expect(agreement.counts.taken).toBeGreaterThan(20);
    expect(agreement.counts.refused).toBeGreaterThan(100);
  });

  test("take a reference for any value but a discriminator, and the true or false of a condition", async () => {
    const registry = createRegistry(plugins());
    const agreement = new Agreement();
    for (const document of RICH_DOCUMENTS) {
      const places = [...placesIn(document)].filter((place) => isReplaceable(place, valueAt(document, place)));
      for (let at = 0; at < places.length; at += REFERENCES_AT_ONCE) {
        const copy = structuredClone(document);
        const replaced = places.slice(at, at + REFERENCES_AT_ONCE);
        const values = new Map(replaced.map((place, index) => [`X${index}`, String(valueAt(document, place))]));
        for (const [index, place] of replaced.entries()) put(copy, place, `\${env:X${index}}`);
        const sources = {
          env: (name: string) => values.get(name),
          file: (): Promise<string> => Promise.reject(new Error("it is not there")),
        };
        const checked = await checkDocument(copy, registry, sources, AbortSignal.timeout(10_000));
        const taken = checked.ok || checked.problems.map(formatProblem).join("; ");
        expect([replaced, taken, agreement.objections(copy)]).toEqual([replaced, true, []]);
      }
    }
  });
});

const REFERENCES_AT_ONCE = 20;

function isReplaceable(place: readonly (string | number)[], value: unknown): boolean {
  // Text is a value of other conditions, so that what a reference stands for stays text.
  if (place.at(-1) === "value" && typeof value === "boolean") return false;
  return ["string", "number", "boolean"].includes(typeof value) && !DISCRIMINATORS.has(String(place.at(-1)));
}

/** Those of resolvers and conditions, and what a reference in JSON would be data of. */
const DISCRIMINATORS: ReadonlySet<string> = new Set(["type", "op"]);
