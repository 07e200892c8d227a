import { cpSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { FileHistory } from "../../src/file/file-history.ts";
import { bridgeAudit } from "../../src/file/verify-command.ts";
import { verifyFiles } from "../../src/file/verify.ts";
import { event, files, lines, openSink, scratch } from "./support/scratch.ts";

const KEY = "a-key-of-the-operator-0123456789abcdef";
const signal = new AbortController().signal;
const NAMES = Array.from({ length: 8 }, (_, n) => `n${n + 1}`);

interface Told {
  readonly seq: number;
  readonly action: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

function write(path: string, records: readonly string[]): void {
  writeFileSync(path, records.map((line) => `${line}\n`).join(""));
}

/** What somebody does to the current file, of which `all` are the lines. */
const HARMS = {
  "cut to nothing": (path: string) => truncateSync(path),
  "cut in the middle of a record": (path: string) => truncateSync(path, readFileSync(path).length - 100),
  "cut behind a record": (path: string, all: readonly string[]) =>
    truncateSync(path, Buffer.byteLength(`${all.slice(0, -1).join("\n")}\n`)),
  deleted: (path: string) => rmSync(path),
  "replaced by an older copy": (path: string, all: readonly string[]) => {
    write(`${path}-copy`, all.slice(0, -1));
    renameSync(`${path}-copy`, path);
  },
  "without a record from its middle": (path: string, all: readonly string[]) => write(path, all.toSpliced(-2, 1)),
  "with two records swapped": (path: string, all: readonly string[]) =>
    write(path, [all[1] ?? "", all[0] ?? "", ...all.slice(2)]),
} as const;
type Harm = keyof typeof HARMS;

/** While the bridge runs: what `audit.resumed` says, `lost` counted from the end of the file, `all` for each in it. */
const TOLD: Readonly<Record<Harm, { readonly file?: string; readonly lost?: number | "all" }>> = {
  "cut to nothing": { file: "cut", lost: "all" },
  "cut in the middle of a record": { file: "cut", lost: 1 },
  "cut behind a record": { file: "cut", lost: 1 },
  deleted: { file: "gone", lost: "all" },
  "replaced by an older copy": { file: "replaced", lost: 1 },
  "without a record from its middle": { file: "cut" },
  // It is as long as it was, so only its hashes tell.
  "with two records swapped": {},
};
/** What the files tell by themselves when it was done before a start. */
const SHOWN_BY_FILES: ReadonlySet<Harm> = new Set(["without a record from its middle", "with two records swapped"]);

const TABLE = Object.keys(HARMS).flatMap((harm) =>
  [undefined, KEY].flatMap((hmacKey) =>
    [undefined, 1_200].map((maxBytes) => ({ harm: harm as Harm, hmacKey, maxBytes })),
  ),
);

async function command(folder: string, hmacKey: string | undefined, head?: string) {
  const key = join(folder, "key");
  writeFileSync(key, KEY);
  let out = "";
  const put = { write: (text: string) => (out += text) };
  const code = await bridgeAudit(
    [
      "verify",
      ...(hmacKey === undefined ? [] : ["-key-file", key]),
      ...(head === undefined ? [] : ["-head", head]),
      ...files(folder).filter((file) => file !== key),
    ],
    { stdout: put, stderr: put },
  );
  rmSync(key);
  return { code, out };
}

describe("operators 6.5: an auditor sees what somebody took out of the audit file", () => {
  test.each(TABLE)("$harm while the bridge runs, key $hmacKey, files of $maxBytes bytes", async (row) => {
    const { harm, hmacKey, maxBytes } = row;
    using folder = scratch();
    await using sink = await openSink(folder.path, { hmacKey, maxBytes, keep: 9 });
    const history = sink.history as FileHistory;
    for (const name of NAMES) await sink.write(event(name));
    expect(await history.verify(signal)).toEqual({ records: 8, head: expect.any(String) as string });
    const before = lines(folder.path);
    HARMS[harm](folder.path, before);

    // Before the writer has looked: it knows what it has written.
    if (harm !== "deleted") {
      expect((await history.verify(signal)).problem).toBeDefined();
      expect((await history.read({}, 100, undefined, signal)).breakAt).toBeGreaterThan(0);
    }

    await sink.ready();
    await sink.write(event("next"));
    const { file, lost } = TOLD[harm];
    const told = lines(folder.path)
      .map((line) => JSON.parse(line) as Told)
      .filter(({ action }) => action === "audit.resumed");
    const count = lost === "all" ? before.length : lost;
    expect(told.map(({ detail }) => [detail["file"], detail["lost"]])).toEqual(
      file === undefined ? [] : [[file, count]],
    );
    const { problem } = await history.verify(signal);
    expect(problem).toMatch(/gone|missing|out of order|no file begins/);
    expect((await history.read({}, 100, undefined, signal)).breakAt).toBeGreaterThan(0);
    const paged = await pages(history);
    expect(paged.filter((at) => at !== undefined)).not.toEqual([]);
    expect(await command(folder.folder, hmacKey)).toMatchObject({ code: 1, out: /BREAK/ });
  });

  test.each(TABLE)("$harm before a start, key $hmacKey, files of $maxBytes bytes", async (row) => {
    const { harm, hmacKey, maxBytes } = row;
    using folder = scratch();
    let head = "";
    {
      await using sink = await openSink(folder.path, { hmacKey, maxBytes, keep: 9 });
      for (const name of NAMES) await sink.write(event(name));
      ({ head } = await (sink.history as FileHistory).verify(signal));
    }
    HARMS[harm](folder.path, lines(folder.path));
    await using sink = await openSink(folder.path, { hmacKey, maxBytes, keep: 9 });
    await sink.write(event("next"));
    const isShown = SHOWN_BY_FILES.has(harm);
    expect((await (sink.history as FileHistory).verify(signal)).problem !== undefined).toBe(isShown);
    expect((await command(folder.folder, hmacKey)).code).toBe(isShown ? 1 : 0);
    // The end of a file is nobody's but the log's, which has the head.
    expect((await command(folder.folder, hmacKey, head)).code).toBe(1);
  });

  test("says in words what is gone, and counts what was written apart from what could not be", async () => {
    for (const [harm, words] of [
      ["cut to nothing", "the records before record 9 are gone: the end of the file was cut off"],
      ["cut behind a record", "1 record before record 8 is gone: the end of the file was cut off"],
      ["deleted", "the records before record 9 are gone: the file was moved or deleted"],
    ] as const) {
      using folder = scratch();
      await using sink = await openSink(folder.path);
      for (const name of NAMES) await sink.write(event(name));
      HARMS[harm](folder.path, lines(folder.path));
      await sink.write(event("next"));
      expect((await (sink.history as FileHistory).verify(signal)).problem).toContain(words);
      const { out } = await command(folder.folder, undefined);
      expect(out).toContain(`: ${words}`);
      expect(out).toMatch(/records? that had been written (is|are) gone/);
      expect(out).not.toContain("could not be written");
    }
  });

  test("a file that was moved and is given too is not missed", async () => {
    using folder = scratch();
    await using sink = await openSink(folder.path);
    for (const name of NAMES) await sink.write(event(name));
    const away = `${folder.path}.away`;
    renameSync(folder.path, away);
    await sink.write(event("next"));
    expect((await sink.history!.verify(signal)).problem).toMatch(/records before record 9 are gone/);
    expect(await verifyFiles([folder.path, away])).toMatchObject({ records: 10, break: undefined });
  });

  test("each removal is counted once, also when the same is done again", async () => {
    using folder = scratch();
    await using sink = await openSink(folder.path);
    const told: unknown[] = [];
    for (const harm of ["cut to nothing", "deleted", "cut behind a record", "cut to nothing"] as const) {
      for (const name of NAMES.slice(0, 3)) await sink.write(event(name));
      const before = lines(folder.path);
      HARMS[harm](folder.path, before);
      await sink.ready();
      const { detail } = JSON.parse(lines(folder.path).at(-1) ?? "") as Told;
      told.push([before.length, detail["lost"]]);
    }
    expect(told).toEqual([
      [3, 3],
      [4, 4],
      [4, 1],
      [7, 7],
    ]);
  });

  test("an empty file in which nothing was yet, taken away, is no removal", async () => {
    using folder = scratch();
    await using sink = await openSink(folder.path);
    rmSync(folder.path);
    await sink.write(event("first"));
    expect((await sink.history!.verify(signal)).problem).toBeUndefined();
    expect((await sink.history!.read({}, 10, undefined, signal)).breakAt).toBeUndefined();
  });

  test("a whole copy in its place lacks nothing, and a longer chain of somebody else's everything", async () => {
    using folder = scratch();
    using other = scratch();
    await using sink = await openSink(folder.path);
    for (const name of NAMES) await sink.write(event(name));
    cpSync(folder.path, `${folder.path}.copy`);
    renameSync(`${folder.path}.copy`, folder.path);
    await sink.write(event("next"));
    expect((await sink.history!.verify(signal)).problem).toBeUndefined();
    {
      await using forger = await openSink(other.path);
      for (let n = 0; n < 30; n++) await forger.write(event(`forged ${n}`));
    }
    renameSync(other.path, folder.path);
    await sink.write(event("last"));
    expect((await sink.history!.verify(signal)).problem).toMatch(/10 records before record 31 are gone: another file/);
    expect((await sink.history!.read({}, 10, undefined, signal)).breakAt).toBe(31);
  });

  test("old files that were kept no longer are no removal; the newest full one is never one of them", async () => {
    using folder = scratch();
    await using sink = await openSink(folder.path, { maxBytes: 1_200, keep: 2 });
    const history = sink.history as FileHistory;
    for (let n = 0; n < 20; n++) await sink.write(event(`n${n}`));
    expect((await history.verify(signal)).problem).toBeUndefined();
    expect(await pages(history)).not.toContainEqual(expect.any(Number));
    const full = files(folder.folder).filter((file) => file !== folder.path);
    for (const file of full) rmSync(file);
    const [first = ""] = lines(folder.path);
    const { seq } = JSON.parse(first) as Told;
    const words = `the records before record ${seq} are gone: no full file ends with record ${seq - 1}`;
    expect((await history.verify(signal)).problem).toContain(words);
    expect((await history.read({}, 100, undefined, signal)).breakAt).toBe(seq);
    // The command is given what files somebody has, and says what is in none of them.
    const alone = await command(folder.folder, undefined);
    expect(alone).toMatchObject({
      code: 0,
      out: expect.stringContaining(`before record ${seq} are in none`) as string,
    });
  });

  test("a file that cannot be made again: what was written is still known", async () => {
    using folder = scratch();
    const path = join(folder.folder, "inner", "audit.jsonl");
    await using sink = await openSink(path);
    for (const name of NAMES) await sink.write(event(name));
    rmSync(join(folder.folder, "inner"), { recursive: true });
    writeFileSync(join(folder.folder, "inner"), "in the way");
    for (let n = 0; n < 3; n++) await expect(sink.write(event("x"))).rejects.toThrow(/inner/);
    rmSync(join(folder.folder, "inner"));
    await sink.write(event("next"));
    const { detail } = JSON.parse(lines(path)[0] ?? "") as Told;
    expect(detail).toMatchObject({ file: "gone", lost: 8, unwritten: 3 });
    const history = new FileHistory(path, undefined, systemClock);
    expect((await history.verify(signal)).problem).toMatch(/records before record 9 are gone/);
  });
});

/** What each page of one event says of the chain. */
async function pages(history: FileHistory): Promise<readonly (number | undefined)[]> {
  const breaks: (number | undefined)[] = [];
  let cursor: string | undefined;
  do {
    const page = await history.read({}, 1, cursor, signal);
    breaks.push(page.breakAt);
    cursor = page.next;
  } while (cursor !== undefined && breaks.length < 100);
  return breaks;
}
