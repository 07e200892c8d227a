import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PATIENCE } from "@bridge/tooling/patience";
import { describe, expect, it, vi } from "vitest";
import { openConfigFile } from "../src/index.ts";
import { documentFolder } from "./support/document-folder.ts";
import { restarted } from "./support/restarted.ts";

/** What former versions have left in their stores, by their documents beside the file. @module */

const NEVER = new AbortController().signal;
const FORMER =
  "config_version: 41\nbridge: {id: plant-7}\nstores: {outbox: {type: file, options: {path: a}}, dlq: {type: file, options: {path: x}}}\n";
const store = (path: string) => ({ type: "file", options: { path } });
const BRIDGE = { bridge: { id: "plant-7" } };
const MOVED = { ...BRIDGE, stores: { outbox: store("b"), dlq: store("y") } };

const here = documentFolder(FORMER);
const versions = (): string => `${here.path}.versions`;
const marked = (): readonly string[] => readdirSync(versions()).filter((name) => name.includes(".left-"));
const theMarked = (): string => join(versions(), marked()[0] ?? "nothing");
const TOLD = /^version 42 has stores.outbox and stores.dlq at another place .*from_version: 42/;

/** A start that has taken version 42 back, and has ended. */
async function takenBack(): Promise<void> {
  await here.killed(MOVED);
  await using start = await restarted(here);
  expect(start.told).toMatch(TOLD);
}

it("spec 4.9.7: its document is for its owner only, and says which stores it has left by its name", async () => {
  await takenBack();
  expect(marked()).toEqual([expect.stringMatching(/^42\.left-dlq-outbox-[0-9a-f]{8}\.yaml$/)]);
  expect(statSync(theMarked()).mode & 0o777).toBe(0o600);
});

it("spec 4.9.8: over restarts and commits it is told, until each of its stores has run again", async () => {
  await takenBack();
  for (let version = 43; version < 45; version++) {
    await using next = await restarted(here);
    expect(next.told).toMatch(TOLD);
    await next.follow(version, { ...BRIDGE, stores: { outbox: store("a"), dlq: store("x") } });
    expect(next.transactions.leftBehind()).toMatch(TOLD);
  }
  {
    await using next = await restarted(here);
    await next.follow(45, { ...BRIDGE, stores: { outbox: store("b"), dlq: store("x") } });
    expect(next.transactions.leftBehind()).toMatch(/^version 42 has stores.dlq at .*, version 45,/);
    await expect.poll(marked, PATIENCE).toEqual([expect.stringMatching(/^42\.left-dlq-[0-9a-f]{8}\.yaml$/)]);
  }
  {
    await using next = await restarted(here);
    expect(next.told).toMatch(/^version 42 has stores.dlq at /);
    await next.follow(46, { ...BRIDGE, stores: { dlq: { ...store("x"), abandon_backlog: true } } });
    expect(next.transactions.leftBehind()).toMatch(/^version 42 has stores.dlq at /);
    await next.follow(47, { ...BRIDGE, stores: { dlq: store("y") } });
    expect(next.transactions.leftBehind()).toBeUndefined();
    await expect.poll(marked, PATIENCE).toEqual([]);
  }
  await using last = await restarted(here);
  expect(last.told).toBeUndefined();
  expect(readdirSync(versions())).toContain("42.reverted.yaml");
});

it("spec 4.9.8: what another process has left is told by one that runs from the next reload on, until its file is removed", async () => {
  await using process = await restarted(here);
  expect(process.told).toBeUndefined();
  {
    await using other = openConfigFile(here.path);
    const left = await other.load(NEVER);
    if (left === undefined) throw new Error("it is there");
    await other.versions.left?.keep(left, ["outbox", "dlq"], NEVER);
  }
  const told = (): string | undefined => process.transactions.leftBehind();
  await process.follow(42, MOVED);
  await expect
    .poll(told, PATIENCE)
    .toMatch(/^version 41 has stores.outbox and stores.dlq at another place .*, version 42,/);
  rmSync(theMarked());
  await process.follow(42, MOVED);
  await expect.poll(told, PATIENCE).toBeUndefined();
});

it("spec 4.9.8: a process that starts with these stores has nothing to tell, and notes that", async () => {
  await takenBack();
  writeFileSync(here.path, FORMER.replace("path: a", "path: b").replace("path: x", "path: y"));
  await using next = await restarted(here);
  expect(next.told).toBeUndefined();
  await expect.poll(marked, PATIENCE).toEqual([]);
});

describe.each([
  ["is cut off", (path: string) => writeFileSync(path, "stores: {outbox: [")],
  ["is junk", (path: string) => writeFileSync(path, Buffer.alloc(500, 0xff))],
  ["is too large", (path: string) => writeFileSync(path, `a: "${"x".repeat(5 * 1024 * 1024)}"\n`)],
])("a document that %s", (_, spoil) => {
  it("spec 4.9.8: is told with what helps, until it is removed", async () => {
    await takenBack();
    spoil(theMarked());
    {
      await using next = await restarted(here);
      expect(next.told).toMatch(/^version 42 .* cannot run again as it is \(.+\): mend that; .*bridge\.yaml\.versions/);
      await next.follow(43, MOVED);
      expect(next.transactions.leftBehind()).toMatch(/^version 42 /);
    }
    rmSync(theMarked());
    await using next = await restarted(here);
    expect(next.told).toBeUndefined();
  });
});

it("spec 4.9.8: a name that says nothing of what is left is passed over", async () => {
  await takenBack();
  rmSync(theMarked());
  for (const name of ["42.left-.yaml", "42.left-lease-00000000.yaml", "x.left-dlq-00000000.yaml"])
    writeFileSync(join(versions(), name), "bridge: {id: x}\n");
  await using next = await restarted(here);
  expect(next.told).toBeUndefined();
});

it("spec 4.9.8: an older copy of the file, and the same number once more: both versions are told, each by its document", async () => {
  await takenBack();
  rmSync(`${here.path}.history.jsonl`);
  await here.killed({ ...BRIDGE, stores: { outbox: store("c"), dlq: store("x") } });
  await using start = await restarted(here);
  expect(marked()).toHaveLength(2);
  expect(start.told).toMatch(
    /^version 42 .*kept as bridge\.yaml\.versions.42\.left-.*; the same is true of version 42 \(stores\.outbox.*, kept as bridge\.yaml\.versions.42\.left-[^ ]*\.yaml, which that number finds when .*\)$/,
  );
  await start.follow(43, MOVED);
  expect(start.transactions.leftBehind()).toMatch(/^version 42 has stores.outbox at [^;]*;/);
});

it("spec 4.9.8: where its document cannot be kept the note stays, so that each start tells it, and keeps it when that can be done", async () => {
  const tried = await here.killed(MOVED);
  renameSync(versions(), `${versions()}-away`);
  writeFileSync(versions(), "in the way");
  for (let n = 0; n < 2; n++) {
    await using start = await restarted(here);
    expect([start.runs, start.told]).toEqual([41, expect.stringMatching(TOLD)]);
    expect(start.told).toContain("its document is not kept yet, and until it is from_version answers 404");
    await expect(start.transactions.open(60_000, NEVER, 42)).rejects.toMatchObject({ kind: "not_found" });
    expect(existsSync(here.note)).toBe(true);
  }
  rmSync(versions());
  await using start = await restarted(here);
  expect(start.told).toMatch(TOLD);
  await expect.poll(() => start.transactions.leftBehind(), PATIENCE).not.toContain("not kept yet");
  expect([existsSync(here.note), marked()]).toEqual([false, [expect.stringContaining("42.left-dlq-outbox")]]);
  const [left] = (await start.store.versions.left?.list(NEVER)) ?? [];
  expect(left?.kept).toHaveProperty("stored.version", 42);
  expect(tried).toContain("path: b");
});

it("spec 4.9.8: nothing else is tried out while what was left cannot be kept, whose note that would replace; each start tells it still", async () => {
  await here.killed(MOVED);
  renameSync(versions(), `${versions()}-away`);
  writeFileSync(versions(), "in the way");
  {
    await using start = await restarted(here);
    await expect(start.tryOut({ bridge: { log_level: "debug" } })).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(/^what version 42 has left .* or commit without confirm_within$/) as unknown,
    });
  }
  await using start = await restarted(here);
  expect(start.told).toMatch(TOLD);
});

it("spec 4.9.8: where what was left could not be kept, and may be left now, the next start tells nothing", async () => {
  await here.killed(MOVED);
  renameSync(versions(), `${versions()}-away`);
  writeFileSync(versions(), "in the way");
  {
    await using start = await restarted(here);
    expect(existsSync(here.note)).toBe(true);
    await start.follow(43, MOVED);
    await vi.waitFor(() => expect(existsSync(here.note)).toBe(false), PATIENCE);
  }
  await using start = await restarted(here);
  expect(start.told).toBeUndefined();
});

it("spec 4.9.8: what could not be kept is kept before something else is tried out", async () => {
  await here.killed(MOVED);
  renameSync(versions(), `${versions()}-away`);
  writeFileSync(versions(), "in the way");
  await using start = await restarted(here);
  rmSync(versions());
  const version = await start.tryOut({ bridge: { log_level: "debug" } });
  expect(marked()).toEqual([expect.stringContaining("42.left-dlq-outbox")]);
  await start.transactions.confirm(version);
  expect(existsSync(here.note)).toBe(false);
});

it("spec 4.9.8: where that it is over cannot be noted, the next start tells it again unless these stores run", async () => {
  await takenBack();
  chmodSync(here.path, 0o444);
  {
    await using next = await restarted(here);
    await next.follow(43, MOVED);
    expect(next.transactions.leftBehind()).toBeUndefined();
  }
  await using again = await restarted(here);
  expect(again.told).toMatch(TOLD);
  chmodSync(here.path, 0o644);
});

describe("a note of a probation", () => {
  it("spec 4.9.8: says at no moment less than what is tried out", async () => {
    const opened = openConfigFile(here.path);
    const stored = await opened.load(NEVER);
    if (stored === undefined) throw new Error("there is nothing");
    await using _ = opened;
    await opened.probations.begin(MOVED, stored, here.probation, NEVER);
    expect(Buffer.from(here.noted().tried, "base64").toString()).toContain("path: b");
  });

  it.each([
    ["was not stored, as far as it says, and the former one is", FORMER, undefined],
    ["was not stored, as far as it says, and another one is", "config_version: 40\nbridge: {id: by-hand}\n", TOLD],
  ])("spec 4.9.8: of what %s", async (_, stands, told) => {
    await here.killed(MOVED);
    writeFileSync(here.note, JSON.stringify(here.noted()));
    writeFileSync(here.path, stands);
    await using start = await restarted(here);
    if (told === undefined) expect([start.settled, start.told]).toEqual([undefined, undefined]);
    else expect(start.told).toMatch(told);
    expect(existsSync(here.note)).toBe(false);
  });
});

it.each(["config_version: 42\nbridge: {id: plant-7}\n", ""])(
  "spec 4.9.8: a document that is cut off at the end of a line, and is a smaller configuration, is told as one that was changed: %j",
  async (cut) => {
    await takenBack();
    writeFileSync(theMarked(), cut);
    await using next = await restarted(here);
    expect(next.told).toMatch(
      /^version 42 .*; its document was changed after it was kept: see that it is whole first;/,
    );
  },
);

const reading = (name: string) => readFileSync(join(versions(), name), "utf8");

/** What `from_version` comes to. */
async function committed({ transactions }: Awaited<ReturnType<typeof restarted>>, fromVersion: number) {
  const { id } = await transactions.open(60_000, NEVER, fromVersion);
  const { changes } = await transactions.diff(id, NEVER);
  return { changes, result: await transactions.commit(id, "alice") };
}

it("spec 4.9.7: of what has the number of what is stored, from_version finds what has left something, one after the other", async () => {
  for (const place of ["b", "c"]) {
    await here.killed({ ...BRIDGE, stores: { outbox: store(place), dlq: store("x") } });
    await using _ = await restarted(here);
    writeFileSync(here.path, FORMER);
    rmSync(`${here.path}.history.jsonl`);
  }
  writeFileSync(here.path, FORMER.replace("41", "42"));
  await using start = await restarted(here);
  const first = marked().toSorted()[0] ?? "";
  expect(start.told).toContain(`(from_version: 42, kept as ${join("bridge.yaml.versions", first)})`);
  const places = [/path: ([bc])/.exec(reading(first))?.[1]];
  for (const version of [43, 44]) {
    const { changes, result } = await committed(start, 42);
    expect([changes.length > 0, result]).toEqual([true, { status: "committed", version }]);
    places.push(/outbox: .*?path: "?([abc])/s.exec(readFileSync(here.path, "utf8"))?.[1]);
    await expect.poll(() => marked().length, PATIENCE).toBe(44 - version);
  }
  expect([places[0] === places[1], new Set(places)]).toEqual([true, new Set(["b", "c"])]);
  expect(start.transactions.leftBehind()).toBeUndefined();
});

it("spec 4.9.7: what is stored has its number for itself when nothing of that number has left anything", async () => {
  await takenBack();
  await using start = await restarted(here);
  expect(await committed(start, 41)).toEqual({ changes: [], result: { status: "committed", version: 41 } });
});

it.each([
  ["the history", () => rmSync(`${here.path}.history.jsonl`)],
  ["the folder of former versions", () => rmSync(versions(), { recursive: true })],
])("spec 4.9.5: a version is above all that is known, also when %s was moved away", async (_, move) => {
  await takenBack();
  move();
  await using start = await restarted(here);
  const { id } = await start.transactions.open(60_000, NEVER);
  await start.transactions.patch(id, { bridge: { log_level: "debug" } }, NEVER);
  expect(await start.transactions.commit(id, "alice")).toEqual({ status: "committed", version: 43 });
});

it("spec 4.9.8: of more than 20 it is said how many there are besides, and where; none is thrown away", async () => {
  await takenBack();
  const [name = ""] = marked();
  for (let version = 101; version < 126; version++)
    writeFileSync(
      join(versions(), name.replace("42", `${version}`)),
      reading(name).replace(/path: "?b/, `path: q${version}`),
    );
  await using start = await restarted(here);
  expect(start.told).toMatch(/ 6 older ones, versions 42 to 105, kept in the same folder$/);
  const left = start.store.versions.left;
  const stored = await start.store.load(NEVER);
  if (stored !== undefined) await left?.keep(stored, ["outbox"], NEVER);
  expect(marked()).toHaveLength(27);
});
