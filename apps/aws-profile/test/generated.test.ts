import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatedFiles } from "../generate.ts";

test.each([...generatedFiles()].map(([path, text]) => ({ name: path.replace(/.*\/packages\//, ""), path, text })))(
  "$name is up to date; otherwise run: pnpm --filter @bridge/aws-profile reference",
  ({ path, text }) => {
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);
