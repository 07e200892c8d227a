import { expect, test } from "vitest";
import fc from "fast-check";
import { Agreement } from "../test/support/agreement.ts";
import { BEYOND_SHAPE } from "../test/support/beyond-shape.ts";
import { RICH_DOCUMENTS } from "../test/support/rich-documents.ts";
import { spoiled, spoiledOnce } from "@bridge/tooling/spoiled";

test("finding 6.14: the JSON Schema and the binary say the same of each place changed in each way, and of several", () => {
  const agreement = new Agreement();
  const differences = new Set<string>();
  for (const document of spoiledOnce(RICH_DOCUMENTS)) {
    const difference = agreement.difference(document);
    if (difference !== undefined && differences.size < 20) differences.add(difference);
  }
  expect([...differences]).toEqual([]);
  fc.assert(
    fc.property(spoiled(RICH_DOCUMENTS), (document) => {
      expect(agreement.difference(document)).toBeUndefined();
    }),
    { numRuns: 20_000 },
  );
  // What nothing needs any more is no excuse.
  expect(BEYOND_SHAPE.map(([reason]) => reason).filter((reason) => !agreement.excused.has(reason))).toEqual([]);
}, 1_800_000);
