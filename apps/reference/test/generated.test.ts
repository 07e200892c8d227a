import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { describe, expect, test } from "vitest";
import { generatedFiles } from "../generate.ts";

const WORKSPACE = new URL("../../..", import.meta.url).pathname;

describe("what is generated from the configuration's schema", () => {
  test.each([...generatedFiles()].map(([path, text]) => ({ name: relative(WORKSPACE, path), path, text })))(
    "$name is up to date; otherwise run: pnpm --filter @bridge/reference schema",
    ({ path, text }) => {
      expect(readFileSync(path, "utf8")).toBe(text);
    },
  );
});
