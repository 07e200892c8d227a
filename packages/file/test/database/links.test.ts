import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { behindLinks } from "../../src/database/links.ts";
import { scratchFolder } from "./support/notes.ts";

test("a path that is no link stands for itself, whether a file is there or not", () => {
  using scratch = scratchFolder();
  expect(behindLinks(scratch.path)).toBe(scratch.path);
  writeFileSync(scratch.path, "");
  expect(behindLinks(scratch.path)).toBe(scratch.path);
});

test("a link stands for where it leads, by way of others, from the folder that it lies in, though nothing is there yet", () => {
  using scratch = scratchFolder();
  const folder = realpathSync(scratch.folder);
  mkdirSync(join(folder, "far"));
  symlinkSync("far/second", join(folder, "first"));
  symlinkSync("../notes.db", join(folder, "far", "second"));
  expect(behindLinks(join(folder, "first"))).toBe(join(folder, "notes.db"));
  symlinkSync(join(folder, "absolute.db"), join(folder, "third"));
  expect(behindLinks(join(folder, "third"))).toBe(join(folder, "absolute.db"));
  // A folder that is a link itself is where it really lies.
  symlinkSync("far", join(folder, "near"));
  expect(behindLinks(join(folder, "near", "second"))).toBe(join(folder, "notes.db"));
});
