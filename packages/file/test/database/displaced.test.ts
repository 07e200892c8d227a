import { PATIENCE } from "@bridge/tooling/patience";
import { copyFileSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LogFields, silentLogger } from "@bridge/ports";
import { expect, test, vi } from "vitest";
import { adding, Notes, removing, scratchFolder } from "./support/notes.ts";

const GONE = /was deleted, moved away or replaced while it is in use: nothing new is taken/;

test.each<[string, (path: string) => void]>([
  ["deleted", (path) => rmSync(path)],
  [
    "replaced",
    (path) => {
      copyFileSync(path, `${path}-copy`);
      renameSync(`${path}-copy`, path);
    },
  ],
  ["moved with its folder", (path) => renameSync(join(path, ".."), join(path, "..", "..", "elsewhere"))],
  ["without its lock", (path) => rmSync(`${path}-lock`)],
])("finding 3.2: nothing is confirmed into a file that was %s; what makes room still works", async (_, harm) => {
  using scratch = scratchFolder();
  const folder = join(scratch.folder, "store");
  mkdirSync(folder);
  const path = join(folder, "notes.db");
  const errors: [string, LogFields | undefined][] = [];
  const logger = { ...silentLogger, error: (line: string, fields?: LogFields) => void errors.push([line, fields]) };
  await using notes = new Notes({ path, logger });
  await notes.write(adding("a"));
  await notes.write(adding("b"));
  harm(path);
  // The lock and what stands beside the file are looked at each second, the rest before each group is confirmed.
  if (_ === "without its lock") await vi.waitFor(() => expect(notes.health().fault).toMatch(GONE), PATIENCE);
  await expect(notes.write(adding("c"))).rejects.toMatchObject({ code: "UNAVAILABLE", charged: false });
  await expect(notes.write(adding("d"))).rejects.toThrow(GONE);
  expect(notes.health().fault).toMatch(GONE);
  expect(errors).toMatchObject([[expect.stringMatching(/not in its place any more/), { file: path }]]);
  await notes.write(removing("a"));
  expect(notes.ids()).toContain("b");
});

test("finding 3.2: it is known within a second when nobody writes", async () => {
  using scratch = scratchFolder();
  await using notes = new Notes({ path: scratch.path });
  rmSync(scratch.path);
  await vi.waitFor(() => expect(notes.health().fault).toMatch(GONE), PATIENCE);
});

test("finding 3.2: a file that is put back is written to again, with all that was confirmed", async () => {
  using scratch = scratchFolder();
  {
    await using notes = new Notes({ path: scratch.path });
    await notes.write(adding("a"));
    renameSync(scratch.path, `${scratch.path}-elsewhere`);
    await expect(notes.write(adding("b"))).rejects.toThrow(GONE);
    renameSync(`${scratch.path}-elsewhere`, scratch.path);
    await vi.waitFor(() => notes.write(adding("c")), PATIENCE);
    expect(notes.health().fault).toBeUndefined();
  }
  await using notes = new Notes({ path: scratch.path });
  expect(notes.ids()).toEqual(expect.arrayContaining(["a", "c"]));
});

test.each([
  ["nothing", () => {}],
  ["another file", (path: string) => copyFileSync(`${path}-elsewhere`, path)],
])(
  "a file that is put back, with %s in its place meanwhile, goes on with its log: nothing stays set aside",
  async (_, meanwhile) => {
    using scratch = scratchFolder();
    const { path, folder } = scratch;
    {
      await using notes = new Notes({ path });
      for (const id of ["a", "b"]) await notes.write(adding(id));
      renameSync(path, `${path}-elsewhere`);
      meanwhile(path);
      await vi.waitFor(() => expect(notes.health().setAside).toHaveLength(1), PATIENCE);
      await notes.write(removing("a"));
      renameSync(`${path}-elsewhere`, path);
      await vi.waitFor(() => expect(notes.health()).toEqual({ setAside: [] }), PATIENCE);
      await notes.write(adding("c"));
      expect(readdirSync(folder).filter((name) => name.includes("damaged"))).toEqual([]);
      // Nor is anything missing after a kill.
      using killed = scratchFolder();
      cpSync(folder, killed.folder, { recursive: true });
      await using other = new Notes({ path: killed.path });
      expect(other.ids()).toEqual(["b", "c"]);
      expect(other.health().setAside).toEqual([]);
    }
    await using notes = new Notes({ path });
    expect(notes.ids()).toEqual(["b", "c"]);
  },
);

test.each(["stopped", "killed"])(
  "a file that is put back after the bridge was %s holds what was confirmed",
  async (how) => {
    using scratch = scratchFolder();
    using after = scratchFolder();
    const { path, folder } = scratch;
    {
      await using notes = new Notes({ path });
      for (const id of ["a", "b", "c"]) await notes.write(adding(id));
      renameSync(path, `${path}-elsewhere`);
      await vi.waitFor(() => expect(notes.health().setAside).toHaveLength(1), PATIENCE);
      if (how === "killed") cpSync(folder, after.folder, { recursive: true });
      await notes.write(removing("a"));
    }
    if (how === "stopped") cpSync(folder, after.folder, { recursive: true });
    renameSync(`${after.path}-elsewhere`, after.path);
    await using notes = new Notes({ path: after.path });
    // What was written after the file was gone repeats at the worst.
    expect(notes.ids()).toEqual(how === "stopped" ? ["b", "c"] : ["a", "b", "c"]);
  },
);

test("a log that somebody has put into the place meanwhile is not written over by that of the file that is put back", async () => {
  using scratch = scratchFolder();
  const { path } = scratch;
  {
    await using notes = new Notes({ path });
    await notes.write(adding("a"));
    renameSync(path, `${path}-elsewhere`);
    await vi.waitFor(() => expect(notes.health().setAside).toHaveLength(1), PATIENCE);
    writeFileSync(`${path}-wal`, "other");
    renameSync(`${path}-elsewhere`, path);
    await vi.waitFor(() => notes.write(adding("b")), PATIENCE);
    expect(notes.health().setAside).toHaveLength(1);
  }
  await using notes = new Notes({ path });
  expect(notes.ids()).toEqual(["a", "b"]);
});

test("finding 3.2: the log of a file that is gone is never taken for that of the one in its place", async () => {
  using scratch = scratchFolder();
  const { path } = scratch;
  const copy = `${path}-copy`;
  {
    await using notes = new Notes({ path });
    await notes.write(adding("old"));
  }
  copyFileSync(path, copy);
  {
    await using notes = new Notes({ path });
    for (let i = 0; i < 20; i++) await notes.write(adding(`lost ${i}`, 5_000));
    renameSync(copy, path);
    await vi.waitFor(() => expect(notes.health().fault).toMatch(GONE), PATIENCE);
    expect(notes.health().setAside).toHaveLength(1);
    // Nor after a kill, whatever was written since.
    await notes.write(removing("lost 1"));
    using killed = scratchFolder();
    cpSync(scratch.folder, killed.folder, { recursive: true });
    await using other = new Notes({ path: killed.path });
    expect(other.ids()).toEqual(["old"]);
  }
  await using notes = new Notes({ path });
  expect(notes.ids()).toEqual(["old"]);
  expect(notes.health().setAside).toHaveLength(1);
});

test("finding 3.2: a log that was deleted or replaced is written anew, and nothing is missing", async () => {
  using scratch = scratchFolder();
  const { path } = scratch;
  const log = `${path}-wal`;
  const done: string[] = [];
  {
    await using notes = new Notes({ path });
    for (const harm of [() => rmSync(log), () => (rmSync(log), writeFileSync(log, "other"))]) {
      done.push(await notes.write(adding(`a${done.length}`)));
      harm();
      // The one that shows it may last or not.
      await notes.write(adding(`b${done.length}`)).catch(() => {});
      await vi.waitFor(async () => done.push(await notes.write(adding(`c${done.length}`))), PATIENCE);
      await vi.waitFor(() => expect(readdirSync(scratch.folder)).toContain("notes.db-wal"), PATIENCE);
    }
    expect(notes.ids()).toEqual(expect.arrayContaining(done));
  }
  await using notes = new Notes({ path });
  expect(notes.ids()).toEqual(expect.arrayContaining(done));
});
