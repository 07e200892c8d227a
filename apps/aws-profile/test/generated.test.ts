import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REFERENCE_PAGE, referencePage } from "../generate.ts";

test("docs/aws-reference.md is up to date; otherwise run: pnpm --filter @bridge/aws-profile reference", () => {
  expect(readFileSync(REFERENCE_PAGE, "utf8")).toBe(referencePage());
});
