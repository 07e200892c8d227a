import { existsSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { realPlaceOf } from "../../src/database/real-place.ts";
import { scratchFolder } from "./support/notes.ts";

test("a file lies where its path leads, behind the links of its folder and its own; its folder is made, itself not", () => {
  using scratch = scratchFolder();
  const folder = realpathSync(scratch.folder);
  mkdirSync(join(folder, "far"));
  symlinkSync("far", join(folder, "near"));
  symlinkSync("deep/other.db", join(folder, "far", "link.db"));
  expect(realPlaceOf(join(folder, "near", "notes.db"))).toBe(join(folder, "far", "notes.db"));
  expect(realPlaceOf(relative(".", join(folder, "near", "link.db")))).toBe(join(folder, "far", "deep", "other.db"));
  expect(existsSync(join(folder, "far", "deep"))).toBe(true);
  expect(existsSync(join(folder, "far", "deep", "other.db"))).toBe(false);
});

test("what no file can be at is refused as it was written, and nothing is made", () => {
  using scratch = scratchFolder();
  expect(() => realPlaceOf(scratch.folder)).toThrow(`${scratch.folder}: is a folder: name a file`);
  const below = "/proc/bridge-test/notes.db";
  expect(() => realPlaceOf(below)).toThrow(expect.objectContaining({ fault: "no_place" }) as Error);
  const nowhere = join(scratch.folder, "nowhere", "notes.db");
  symlinkSync("nothing", join(scratch.folder, "nowhere"));
  expect(() => realPlaceOf(nowhere)).toThrow(expect.objectContaining({ fault: "no_place" }) as Error);
  const circle = join(scratch.folder, "circle", "notes.db");
  symlinkSync("circle", join(scratch.folder, "circle"));
  expect(() => realPlaceOf(circle)).toThrow(expect.objectContaining({ fault: "no_place" }) as Error);
});
