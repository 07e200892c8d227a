import { PATIENCE } from "@bridge/tooling/patience";
import { execFileSync, spawnSync } from "node:child_process";
import {
  closeSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { BridgeError, type Logger, silentLogger } from "@bridge/ports";
import { expect, test, vi } from "vitest";
import { adding, Notes, NOTES, removing, scratchFolder } from "./support/notes.ts";
import { tickingClock } from "./support/ticking-clock.ts";

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

/** Everything in a folder but locks. */
function contentsOf(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => !name.endsWith("-lock"));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "latin1")]));
}

test("folders are made for their owner only, and so are the files", async () => {
  using scratch = scratchFolder();
  const path = join(scratch.folder, "one", "two", "notes.db");
  await using notes = new Notes({ path });
  await notes.write(adding("a"));
  for (const folder of ["one", "one/two"]) expect(modeOf(join(scratch.folder, folder))).toBe(0o700);
  const files = readdirSync(join(path, ".."));
  expect(files.toSorted()).toEqual(["notes.db", "notes.db-lock", "notes.db-mark", "notes.db-wal"]);
  for (const file of files) expect(modeOf(join(path, "..", file))).toBe(0o600);
});

test("a folder that is there keeps its mode", async () => {
  using scratch = scratchFolder();
  const folder = join(scratch.folder, "mine");
  mkdirSync(folder, { mode: 0o755 });
  await using notes = new Notes({ path: join(folder, "notes.db") });
  expect(notes.ids()).toEqual([]);
  expect(modeOf(folder)).toBe(0o755);
});

test("what was written is there when the file is opened again", async () => {
  using scratch = scratchFolder();
  {
    await using notes = new Notes({ path: scratch.path });
    await notes.write(adding("a"));
  }
  expect(readdirSync(scratch.folder).toSorted()).toEqual(["notes.db", "notes.db-lock", "notes.db-mark"]);
  await using notes = new Notes({ path: scratch.path });
  expect(notes.ids()).toEqual(["a"]);
});

test("a file with a second name of its own is refused, because its log would be another one there", async () => {
  using scratch = scratchFolder();
  {
    await using notes = new Notes({ path: scratch.path });
    await notes.write(adding("a"));
  }
  const twin = join(scratch.folder, "twin.db");
  linkSync(scratch.path, twin);
  for (const path of [scratch.path, twin]) {
    expect(() => new Notes({ path })).toThrow(
      /: has another name, a hard link, under which .* own: delete the other name/,
    );
  }
  rmSync(twin);
  await using notes = new Notes({ path: scratch.path });
  expect(notes.ids()).toEqual(["a"]);
});

test("a file that is mounted by itself is refused, because its log would lie outside", async ({ skip }) => {
  using scratch = scratchFolder();
  {
    await using notes = new Notes({ path: scratch.path });
    await notes.write(adding("a"));
  }
  const mounted = join(scratch.folder, "a mounted.db");
  writeFileSync(mounted, "");
  skip(spawnSync("mount", ["--bind", scratch.path, mounted]).status !== 0, "only the superuser mounts");
  try {
    expect(() => new Notes({ path: mounted })).toThrow(
      /: has another name, as it is mounted by itself, .* own: mount its folder/,
    );
  } finally {
    spawnSync("umount", [mounted]);
  }
});

test("a link leads to the file, and the same file by another name is in use", async () => {
  using scratch = scratchFolder();
  await using notes = new Notes({ path: scratch.path });
  await notes.write(adding("a"));
  const link = join(scratch.folder, "link.db");
  symlinkSync(scratch.path, link);
  expect(() => new Notes({ path: link })).toThrow(/in use/);
});

test("an empty file is begun", async () => {
  using scratch = scratchFolder();
  writeFileSync(scratch.path, "");
  await using notes = new Notes({ path: scratch.path });
  expect(await notes.write(adding("a"))).toBe("a");
});

test("what a crash while the file was made has left is no hindrance", async () => {
  using scratch = scratchFolder();
  for (const leftover of ["-new", "-new-journal"]) writeFileSync(scratch.path + leftover, "half of it");
  await using notes = new Notes({ path: scratch.path });
  expect(await notes.write(adding("a"))).toBe("a");
});

test.each<[string, (path: string) => void]>([
  ["text", (path) => writeFileSync(path, "some text\n".repeat(1_000))],
  ["a few bytes", (path) => writeFileSync(path, "SQLite format 3\0")],
  ["garbage", (path) => writeFileSync(path, Buffer.alloc(8_192, 0xa5))],
  [
    "another program's database",
    (path) => {
      using db = disposable(new DatabaseSync(path));
      db.exec("CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    },
  ],
  [
    "another kind of store's",
    (path) => {
      using db = disposable(new DatabaseSync(path));
      db.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a); PRAGMA application_id = 77");
    },
  ],
])("a file that is not ours is never touched: %s", (_, make) => {
  using scratch = scratchFolder();
  make(scratch.path);
  const before = contentsOf(scratch.folder);
  for (const onDamage of ["refuse", "quarantine"] as const) {
    const open = (): Notes => new Notes({ path: scratch.path, onDamage });
    expect(open).toThrow(BridgeError);
    expect(open).toThrow(`${scratch.path} is there and is no notes file of the bridge`);
  }
  expect(contentsOf(scratch.folder)).toEqual(before);
});

test("a file of a newer schema is never touched", async () => {
  using scratch = scratchFolder();
  const newer = { ...NOTES, migrations: [...NOTES.migrations, "CREATE TABLE more (a)"] };
  {
    await using notes = new Notes({ path: scratch.path, kind: newer });
    await notes.write(adding("a"));
  }
  const before = contentsOf(scratch.folder);
  const open = (): Notes => new Notes({ path: scratch.path, onDamage: "quarantine" });
  expect(open).toThrow(`${scratch.path} was written by a newer release (schema 2, this one knows 1)`);
  expect(contentsOf(scratch.folder)).toEqual(before);
});

test("a file of an older schema is brought forward, what is in it stays", async () => {
  using scratch = scratchFolder();
  {
    await using notes = new Notes({ path: scratch.path });
    await notes.write(adding("a"));
  }
  const newer = {
    ...NOTES,
    migrations: [...NOTES.migrations, "ALTER TABLE note ADD COLUMN colour TEXT", "UPDATE note SET colour = 'red'"],
  };
  {
    await using notes = new Notes({ path: scratch.path, kind: newer });
    expect(notes.ids()).toEqual(["a"]);
  }
  using db = disposable(new DatabaseSync(scratch.path));
  expect(db.prepare("SELECT colour FROM note").get()).toEqual({ colour: "red" });
  expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: 3 });
});

test("a step to a newer schema that fails leaves the file as it was", async () => {
  using scratch = scratchFolder();
  {
    await using notes = new Notes({ path: scratch.path });
    await notes.write(adding("a"));
  }
  const broken = { ...NOTES, migrations: [...NOTES.migrations, "CREATE TABLE more (a)", "no SQL at all"] };
  expect(() => new Notes({ path: scratch.path, kind: broken })).toThrow(/syntax error/);
  await using notes = new Notes({ path: scratch.path });
  expect(notes.ids()).toEqual(["a"]);
});

test.each<[string, (path: string) => void]>([
  ["cut off within its first page", (path) => truncateSync(path, 2_000)],
  ["cut off behind its first page", (path) => truncateSync(path, 20_000)],
  ["with garbage in it", (path) => overwrite(path, 8_192, Buffer.alloc(8_192, 0xa5))],
  ["whose header names no schema", (path) => overwrite(path, 60, Buffer.alloc(4))],
  ["with another column", (path) => overwrite(path, readFileSync(path).indexOf("bytes BLOB"), Buffer.from("c"))],
  ["of a format that there is not", (path) => overwrite(path, 44, Buffer.from([0, 0, 0, 9]))],
  ["with a log that is none", (path) => writeFileSync(`${path}-wal`, "torn to pieces".repeat(10))],
])("a damaged file of ours is refused, or set aside loudly: %s", async (_, damage) => {
  using scratch = scratchFolder();
  const { path } = scratch;
  {
    await using notes = new Notes({ path });
    for (let i = 0; i < 20; i++) await notes.write(adding(`n${i}`, 3_000));
  }
  damage(path);
  expect(() => new Notes({ path })).toThrow(`${path}: the file is damaged`);
  const errors: unknown[] = [];
  const logger = { ...silentLogger, error: (message: string, fields: unknown) => void errors.push([message, fields]) };
  {
    await using notes = new Notes({ path, onDamage: "quarantine", logger });
    expect(notes.ids()).toEqual([]);
    await notes.write(adding("new"));
  }
  const aside = readdirSync(scratch.folder).filter((name) => /^notes\.db\.damaged-\d+T\d+Z$/.test(name));
  expect(aside).toHaveLength(1);
  const set_aside = join(scratch.folder, aside[0] ?? "");
  expect(errors).toMatchObject([[expect.stringMatching(/damaged file was set aside/), { file: path, set_aside }]]);
  await using notes = new Notes({ path });
  expect(notes.ids()).toEqual(["new"]);
});

test.each(["refuse", "quarantine"] as const)("damage that shows while the file is in use: %s", async (onDamage) => {
  using scratch = scratchFolder();
  const { path } = scratch;
  {
    await using notes = new Notes({ path });
    for (let i = 0; i < 200; i++) await notes.write(adding(`n${i}`, 30_000));
  }
  // Larger than what is checked when it is opened.
  overwrite(path, 2 * 1024 * 1024, Buffer.alloc(1024 * 1024, 0xa5));
  await using notes = new Notes({ path, onDamage });
  const all = Array.from({ length: 200 }, (_, i) => `n${i}`);
  const remove = (): Promise<void[]> => Promise.all(all.map((id) => notes.write(removing(id))));
  await expect(remove()).rejects.toThrow(`${path}: the file is damaged`);
  if (onDamage === "refuse") await expect(remove()).rejects.toThrow(`${path}: the file is damaged`);
  else await vi.waitFor(() => expect(notes.ids()).toEqual([]), PATIENCE);
  const aside = readdirSync(scratch.folder).filter((name) => name.includes("damaged"));
  expect(aside.length > 0).toBe(onDamage === "quarantine");
});

test("what was set aside is named until an operator acknowledges it or moves it away, over restarts", async () => {
  using scratch = scratchFolder();
  const { path } = scratch;
  const damage = async (): Promise<string> => {
    {
      await using notes = new Notes({ path });
      await notes.write(adding(crypto.randomUUID(), 30_000));
    }
    truncateSync(path, 2_000);
    await using notes = new Notes({ path, onDamage: "quarantine" });
    return notes.health().setAside.at(-1) ?? "none";
  };
  const first = await damage();
  expect(existsSync(first)).toBe(true);
  {
    const told: unknown[] = [];
    const logger = { ...silentLogger, warn: (_: string, fields?: object) => void told.push(fields) };
    await using notes = new Notes({ path, logger });
    expect(notes.health()).toEqual({ fault: undefined, setAside: [first] });
    expect(notes.acknowledgeDamage()).toEqual([first]);
    expect(notes.health().setAside).toEqual([]);
    expect(notes.acknowledgeDamage()).toEqual([]);
    // When there was nothing to acknowledge there is nothing to tell.
    expect(told).toEqual([{ files: [first] }]);
  }
  expect(existsSync(first), "it stays").toBe(true);
  const second = await damage();
  await using notes = new Notes({ path });
  expect(notes.health().setAside).toEqual([second]);
  renameSync(second, join(scratch.folder, "looked into"));
  expect(notes.health().setAside).toEqual([]);
});

test("a log without its file is a damaged file, not an empty one", async () => {
  using scratch = scratchFolder();
  writeFileSync(`${scratch.path}-wal`, "what was not delivered yet");
  expect(() => new Notes({ path: scratch.path })).toThrow(/damaged/);
  expect(existsSync(scratch.path)).toBe(false);
  {
    await using notes = new Notes({ path: scratch.path, onDamage: "quarantine" });
    expect(notes.ids()).toEqual([]);
    expect(notes.health().setAside).toEqual([expect.stringMatching(/notes\.db\.damaged-\w+$/)]);
  }
  expect(readdirSync(scratch.folder).filter((name) => /damaged.*-wal$/.test(name))).toHaveLength(1);
});

test("one process at a time: a second opener is told which file it is", async () => {
  using scratch = scratchFolder();
  await using notes = new Notes({ path: scratch.path });
  expect(() => new Notes({ path: scratch.path })).toThrow(`${scratch.path} is in use`);
  // The attempt has not taken the lock from the first one, nor from its other handles.
  const attempt = `import { DatabaseSync } from "node:sqlite";
    try { new DatabaseSync(${JSON.stringify(`${scratch.path}-lock`)}).exec("BEGIN EXCLUSIVE"); console.log("free"); }
    catch (error) { console.log(error.message); }`;
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", attempt], { encoding: "utf8" });
  expect(said).toContain("locked");
  expect(await notes.write(adding("a"))).toBe("a");
});

test("a log that another program reads cannot be brought into the file: that is said", async () => {
  using scratch = scratchFolder();
  using crashed = scratchFolder();
  await using notes = new Notes({ path: scratch.path });
  await notes.write(adding("a"));
  cpSync(scratch.folder, crashed.folder, { recursive: true });
  {
    using reader = disposable(new DatabaseSync(crashed.path));
    reader.exec("BEGIN; SELECT * FROM note");
    expect(() => new Notes({ path: crashed.path })).toThrow(
      /another program holds a lock on the file: close that program/,
    );
  }
  await using after = new Notes({ path: crashed.path });
  expect(after.ids()).toEqual(["a"]);
});

test("no other program reads the file while it is in use, nor after a look or when it was opened again", async () => {
  using scratch = scratchFolder();
  const { path } = scratch;
  const { clock, tick } = tickingClock();
  await using notes = new Notes({ path, clock });
  const reading = `import { DatabaseSync } from "node:sqlite";
    try { new DatabaseSync(${JSON.stringify(path)}).exec("SELECT * FROM note"); console.log("read"); }
    catch (error) { console.log(error.message); }`;
  const others = () => execFileSync(process.execPath, ["--input-type=module", "-e", reading], { encoding: "utf8" });
  await notes.write(adding("a"));
  expect(others()).toContain("locked");
  tick();
  expect(others()).toContain("locked");
  rmSync(`${path}-wal`);
  await notes.write(adding("b")).catch(() => {});
  await vi.waitFor(() => notes.write(adding("c")), PATIENCE);
  expect(others()).toContain("locked");
  expect(notes.ids()).toContain("c");
});

function overwrite(path: string, position: number, bytes: Buffer): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
}

function disposable(db: DatabaseSync): DatabaseSync & Disposable {
  return Object.assign(db, { [Symbol.dispose]: () => db.close() });
}

test.each<[string, (folder: string) => string, RegExp]>([
  ["below /proc", () => "/proc/bridge/one/two/notes.db", /lies in "\/proc", where nothing can be kept: name a file/],
  ["a folder", (folder) => folder, /is a folder: name a file, which is made when it is missing/],
  ["a device", () => "/dev/full", /is no regular file: name a file, which is made/],
  [
    "below a file",
    (folder) => (writeFileSync(join(folder, "file"), ""), join(folder, "file", "notes.db")),
    /lies below ".*file", which is no folder: name a file/,
  ],
  [
    "below two links in a circle",
    (folder) => (circle(folder), join(folder, "a", "notes.db")),
    /is a link that leads in a circle: name a file/,
  ],
  [
    "a link to itself",
    (folder) => (circle(folder), join(folder, "a")),
    /is a link that leads in a circle: name a file/,
  ],
  [
    "a name that is too long",
    (folder) => join(folder, "n".repeat(300), "notes.db"),
    /has a longer name than this file system takes: name a file/,
  ],
])("finding 3.4: a path where no file can be is refused at once, by name: %s", (_, make, refusal) => {
  using scratch = scratchFolder();
  const path = make(scratch.folder);
  expect(() => new Notes({ path })).toThrow(BridgeError);
  expect(() => new Notes({ path })).toThrow(refusal);
  expect(() => new Notes({ path })).toThrow(path);
});

function circle(folder: string): void {
  if (existsSync(join(folder, "b")) || readdirSync(folder).includes("a")) return;
  symlinkSync(join(folder, "b"), join(folder, "a"));
  symlinkSync(join(folder, "a"), join(folder, "b"));
}

test("a file that was written to and is empty now is damaged; an empty one that was never ours is a new one", async () => {
  using scratch = scratchFolder();
  writeFileSync(scratch.path, "");
  {
    await using notes = new Notes({ path: scratch.path });
    await notes.write(adding("a"));
  }
  truncateSync(scratch.path, 0);
  const DAMAGE = /damaged.*it is empty, and was written to before/s;
  expect(() => new Notes({ path: scratch.path, onDamage: "refuse" })).toThrow(DAMAGE);
  await using notes = new Notes({ path: scratch.path, onDamage: "quarantine" });
  expect(notes.ids()).toEqual([]);
  expect(notes.health().setAside).toHaveLength(1);
});

test("a file that is gone since it was last in use is begun anew, and that is told", async () => {
  using scratch = scratchFolder();
  const warn = vi.fn<Logger["warn"]>();
  const open = () => new Notes({ path: scratch.path, logger: { ...silentLogger, warn } });
  {
    await using notes = open();
    await notes.write(adding("a"));
  }
  expect(warn).not.toHaveBeenCalled();
  rmSync(scratch.path);
  await using notes = open();
  expect(notes.ids()).toEqual([]);
  expect(warn.mock.calls).toEqual([[expect.stringMatching(/is gone and a new one is begun/), { file: scratch.path }]]);
});

test.each(["there", "missing"])(
  "a link that leads to nothing yet, in a folder that is %s, stays: the file is made where it leads to",
  async (folder) => {
    using scratch = scratchFolder();
    const target = join(scratch.folder, folder, "notes.db");
    if (folder === "there") mkdirSync(join(scratch.folder, folder));
    symlinkSync(join(folder, "notes.db"), scratch.path);
    {
      await using notes = new Notes({ path: scratch.path });
      await notes.write(adding("a"));
      expect(() => new Notes({ path: target })).toThrow(/is in use/);
    }
    expect(readlinkSync(scratch.path)).toBe(join(folder, "notes.db"));
    await using notes = new Notes({ path: target });
    expect(notes.ids()).toEqual(["a"]);
  },
);
