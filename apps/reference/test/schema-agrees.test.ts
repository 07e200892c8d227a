import { PATIENCE } from "@bridge/tooling/patience";
import fc from "fast-check";
import {
  type BridgeConfig,
  checkDocument,
  createRegistry,
  formatProblem,
  type ReferenceSources,
  validateConfig,
} from "@bridge/config";
import { describe, expect, test } from "vitest";
import { plugins } from "../src/compose.ts";
import { Agreement } from "./support/agreement.ts";
import { RICH_DOCUMENTS } from "./support/rich-documents.ts";
import { type Json, placesIn, put, spoiled, valueAt } from "@bridge/tooling/spoiled";

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

  test("take a reference for any value but a discriminator, and what it stands for is what would be written there", async () => {
    const registry = createRegistry(plugins());
    const agreement = new Agreement();
    for (const document of RICH_DOCUMENTS) {
      const places = [...placesIn(document)].filter((place) => isReplaceable(place, valueAt(document, place)));
      for (let at = 0; at < places.length; at += REFERENCES_AT_ONCE) {
        const copy = structuredClone(document);
        const written = structuredClone(document);
        const replaced = places.slice(at, at + REFERENCES_AT_ONCE);
        const values = new Map(replaced.map((place, index) => [`X${index}`, String(valueAt(document, place))]));
        for (const [index, place] of replaced.entries()) {
          put(copy, place, `\${env:X${index}}`);
          if (isAnything(document, place)) put(written, place, String(valueAt(document, place)));
        }
        const checked = await checkDocument(copy, registry, sourcesOf(values), AbortSignal.timeout(PATIENCE.timeout));
        const taken = checked.ok || checked.problems.map(formatProblem).join("; ");
        expect([replaced, taken, agreement.objections(copy)]).toEqual([replaced, true, []]);
        const plain = validateConfig(written, registry);
        expect(checked.ok && unmarked(checked.config)).toEqual(plain.ok && unmarked(plain.config));
      }
    }
  });

  test("refuse a word for a number, a duration, or true or false, wherever it came from", async () => {
    const registry = createRegistry(plugins());
    for (const document of RICH_DOCUMENTS) {
      const places = [...placesIn(document)].filter((place) => {
        const value = valueAt(document, place);
        return typeof value === "number" || typeof value === "boolean"
          ? !isAnything(document, place)
          : isDuration(value);
      });
      const copy = structuredClone(document);
      for (const place of places) put(copy, place, "${env:X}");
      const checked = await checkDocument(
        copy,
        registry,
        sourcesOf(new Map([["X", "pLaNtEd"]])),
        AbortSignal.timeout(PATIENCE.timeout),
      );
      const problems = checked.ok ? [] : checked.problems;
      const told = new Set(problems.map(({ path }) => JSON.stringify(path)));
      expect(places.filter((place) => !told.has(JSON.stringify(place)))).toEqual([]);
      expect(problems.map(formatProblem).join()).not.toContain("pLaNtEd");
    }
  });
});

const REFERENCES_AT_ONCE = 20;

type Place = readonly (string | number)[];

function isReplaceable(place: Place, value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value) && !DISCRIMINATORS.has(String(place.at(-1)));
}

/** Whether text may stand there, too, as what a condition compares with: what a reference stands for then stays text. */
function isAnything(document: Json, place: Place): boolean {
  const [key, index] = [place.at(-1), place.at(-2)];
  const condition = valueAt(document, place.slice(0, key === "value" ? -1 : -2)) as Json;
  return (key === "value" || index === "value") && Object.hasOwn(condition, "op") && condition["op"] !== "exists";
}

/** Without what tells that a value came in through a reference. */
function unmarked(config: BridgeConfig): unknown {
  return {
    ...config,
    veils: undefined,
    bindings: config.bindings.map((binding) => ({ ...binding, hidesAddress: undefined })),
  };
}

function isDuration(value: unknown): boolean {
  return typeof value === "string" && /^\d+(?:ms|s|m|h|d)$/.test(value);
}

function sourcesOf(values: ReadonlyMap<string, string>): ReferenceSources {
  return {
    env: (name) => values.get(name),
    file: () => Promise.reject(new Error("it is not there")),
  };
}

/** Those of resolvers and conditions, and what a reference in JSON would be data of. */
const DISCRIMINATORS: ReadonlySet<string> = new Set(["type", "op"]);
