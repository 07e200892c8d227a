import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatedFiles } from "../generate.ts";

test.each([...generatedFiles()].map(([path, text]) => ({ name: path.replace(/.*\//, ""), path, text })))(
  "$name is up to date; otherwise run: pnpm --filter @bridge/deploy-aws run generate",
  ({ path, text }) => {
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);
