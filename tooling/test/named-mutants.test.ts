import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { lostNames } from "../mutation/named-mutants.ts";

const PACKAGES = resolve(import.meta.dirname, "../../packages");

test.each(readdirSync(PACKAGES))(
  "each mutant of %s that is named as equivalent is one of code that is there",
  (name) => {
    expect(lostNames(resolve(PACKAGES, name))).toEqual([]);
  },
);
