import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PATIENCE } from "@bridge/tooling/patience";
import { describe, expect, it } from "vitest";
import { openConfigFile } from "../src/index.ts";
import { documentFolder } from "./support/document-folder.ts";
import { restarted } from "./support/restarted.ts";

/** What a configuration on probation leaves behind, whatever has happened to it meanwhile: nothing of it is forgotten. @module */

const NEVER = new AbortController().signal;
const FORMER =
  "# ours\nconfig_version: 41\nbridge: {id: plant-7}\nstores: {dlq: {type: file, options: {path: dlq.db}}}\n";
const CHANGES = {
  "a change that moves the DLQ": {
    bridge: { id: "plant-7" },
    stores: { dlq: { type: "file", options: { path: "dlq2.db" } } },
  },
  "a change that moves nothing": {
    bridge: { id: "plant-8" },
    // Kept longer, in the same place.
    stores: { dlq: { type: "file", options: { path: "dlq.db", retention: "3h" } } },
  },
} as const;
const REVERSAL = { why: "level", detail: "below full" };

const here = documentFolder(FORMER);
const { probation } = here;

type End = "is killed" | "ends in order" | "is killed while it takes it back" | "is killed when it has taken it back";

/** A process tries the change out, and ends; resolves to what it has stored. */
async function left(change: Readonly<Record<string, unknown>>, end: End): Promise<string> {
  const { store: begunBy, stored, written: current } = await here.begun(change);
  await using store = begunBy;
  const tried = readFileSync(here.path, "utf8");
  if (end === "ends in order") await store.probations.note({ probation, orderly: true }, NEVER);
  if (end.includes("back")) await store.probations.note({ probation, orderly: false, reversal: REVERSAL }, NEVER);
  if (end === "is killed when it has taken it back") await store.restore(stored, current, NEVER);
  return tried;
}

/** What is of no use, or cannot be read, is refused. */
const nextStart = () => restarted(here, ({ document }) => !JSON.stringify(document).includes("soon"));

/** Which former documents say that they have left something. */
const marked = (): readonly string[] =>
  existsSync(`${here.path}.versions`)
    ? readdirSync(`${here.path}.versions`).filter((name) => name.includes(".left-"))
    : [];

const DOCUMENTS = {
  "stays as it is": () => {},
  "is taken away": () => rmSync(here.path),
  "is emptied": () => writeFileSync(here.path, ""),
  "is put back": () => writeFileSync(here.path, FORMER),
} as const;
const ENDS: readonly End[] = [
  "is killed",
  "ends in order",
  "is killed while it takes it back",
  "is killed when it has taken it back",
];

/** No configuration: the former one runs, and nothing takes its place. */
const UNUSABLE = {
  "is broken": "{{{ nonsense",
  "is cut off": FORMER.slice(0, -3),
  "is made one that nobody can run": "bridge: {id: plant-7, drain_timeout: soon}\n",
};

describe.each(Object.entries(CHANGES))("%s", (name, change) => {
  const moves = name.endsWith("DLQ");
  /** Nothing of it is forgotten. */
  const expectKept = async (start: Awaited<ReturnType<typeof nextStart>>, tried: string): Promise<void> => {
    expect(existsSync(`${here.path}.probation`)).toBe(false);
    expect(start.logged).toContain('"config_version":42');
    expect(start.history).toMatchObject([{ version: 42, available: true, reverted: {} }]);
    const kept = moves ? marked()[0] : "42.reverted.yaml";
    expect(readFileSync(join(`${here.path}.versions`, kept ?? ""), "utf8")).toBe(tried);
    expect((await start.store.versions.load(42, NEVER))?.document).toMatchObject(change);
    if (!moves) return expect([start.told, marked()]).toEqual([undefined, []]);
    expect(start.logged).toContain('"left_stores":"dlq"');
    const told = /version 42 .*stores\.dlq at another place .*from_version: 42/;
    expect(start.told).toMatch(told);
    await start[Symbol.asyncDispose]();
    await using next = await nextStart();
    expect([next.settled, next.told]).toEqual([undefined, expect.stringMatching(told)]);
    await next.follow(50, change);
    expect(next.transactions.leftBehind()).toBeUndefined();
    await expect.poll(marked, PATIENCE).toEqual([]);
    expect((await next.store.versions.load(42, NEVER))?.document).toMatchObject(change);
  };

  describe.each(ENDS)("its process %s", (end) => {
    it.each(Object.entries(DOCUMENTS))("spec 4.9.8: and the document %s", async (what, happens) => {
      const tried = await left(change, end);
      happens();
      await using start = await nextStart();
      if (end === "ends in order" && what === "stays as it is") {
        expect([start.runs, start.told]).toEqual([42, undefined]);
        expect(start.settled).toHaveProperty("goesOn");
        return;
      }
      expect([start.runs, readFileSync(here.path, "utf8")]).toEqual([41, FORMER]);
      expect(start.settled).toMatchObject({ reverted: { version: 42, formerVersion: 41, actor: "alice" } });
      await expectKept(start, tried);
    });
  });

  it.each(ENDS.slice(0, 3))("spec 4.9.8: its process %s, and another hand stores something else", async (end) => {
    const tried = await left(change, end);
    writeFileSync(
      here.path,
      "config_version: 40\nbridge: {id: by-hand}\nstores: {dlq: {type: file, options: {path: dlq.db}}}\n",
    );
    await using start = await nextStart();
    expect(start.runs).toBe(40);
    expect(start.settled).toMatchObject({ reverted: { version: 42, formerVersion: 40, why: "process_ended" } });
    await expectKept(start, tried);
  });

  describe.each(ENDS.slice(0, 3))("its process %s", (end) => {
    it.each(Object.entries(UNUSABLE))(
      "spec 4.9.8: and the document %s: the former one runs, and nothing takes its place until it is in order",
      async (_, text) => {
        const tried = await left(change, end);
        writeFileSync(here.path, text);
        for (let n = 0; n < 2; n++) {
          await using start = await nextStart();
          expect([start.runs, readFileSync(here.path, "utf8"), existsSync(`${here.path}.probation`)]).toEqual([
            41,
            text,
            true,
          ]);
          expect(start.transactions.withdrawn()).toMatch(/version 42 was taken back: .*put the document in order/);
          const { why } = start.settled !== undefined && "reversal" in start.settled ? start.settled.reversal : {};
          expect(start.history).toMatchObject([{ version: 42, reverted: { why } }]);
          expect(start.history?.[0]).not.toHaveProperty("pending");
          expect(start.told === undefined).toBe(!moves);
          const logged = start.stage().join("\n");
          expect(logged).toContain("a configuration is taken back");
          expect(logged.includes('"left_stores":"dlq"')).toBe(moves);
        }
        rmSync(here.path);
        await using start = await nextStart();
        expect([start.runs, readFileSync(here.path, "utf8")]).toEqual([41, FORMER]);
        await expectKept(start, tried);
      },
    );
  });

  it.each(Object.entries(UNUSABLE))(
    "spec 4.9.8: its process is killed, the document %s, and another hand replaces that while the former one runs: the history keeps why it was taken back",
    async (_, text) => {
      await left(change, "is killed");
      writeFileSync(here.path, text);
      await using start = await nextStart();
      writeFileSync(here.path, FORMER.replace("41", "40"));
      await start.looked();
      await expect
        .poll(() => start.store.history.list(NEVER), PATIENCE)
        .toMatchObject([
          {
            version: 42,
            reverted: { why: "process_ended", detail: expect.stringContaining("another hand") as string },
          },
        ]);
    },
  );

  it.each(["stays", "is replaced"])(
    "spec 4.9.8: its version was confirmed, and an old note of it comes back: it %s, and nothing says that it was taken back",
    async (what) => {
      await left(change, "is killed");
      copyFileSync(`${here.path}.probation`, `${here.path}.old`);
      const entry = { committedAt: 1, actor: "alice", changes: [] };
      {
        await using store = openConfigFile(here.path);
        await store.history.append({ version: 42, ...entry }, NEVER);
        const stored = await store.load(NEVER);
        if (what === "is replaced" && stored !== undefined) {
          await store.write({ bridge: { id: "plant-9" } }, stored, NEVER);
          await store.history.append({ version: 43, ...entry }, NEVER);
        }
      }
      copyFileSync(`${here.path}.old`, `${here.path}.probation`);
      const stands = readFileSync(here.path, "utf8");
      await using start = await nextStart();
      expect([start.runs, start.settled, start.told]).toEqual([what === "stays" ? 42 : 43, undefined, undefined]);
      expect(start.logged).toContain("confirmed before");
      expect([readFileSync(here.path, "utf8"), existsSync(`${here.path}.probation`)]).toEqual([stands, false]);
      expect(start.history?.filter(({ reverted }) => reverted !== undefined)).toEqual([]);
    },
  );
});

it.each([
  ["is cut off", (note: string) => writeFileSync(note, readFileSync(note).subarray(0, 200))],
  ["is emptied", (note: string) => writeFileSync(note, "")],
  ["is junk", (note: string) => writeFileSync(note, Buffer.alloc(500))],
  [
    "is a folder",
    (note: string) => {
      rmSync(note);
      mkdirSync(note);
    },
  ],
])(
  "spec 4.9.8: a note that %s is told and replaced by no other as long as it is there, and its version counts as pending",
  async (_, happens) => {
    await left(CHANGES["a change that moves the DLQ"], "is killed");
    const note = `${here.path}.probation`;
    happens(note);
    await using start = await nextStart();
    expect([start.runs, start.settled]).toEqual([42, undefined]);
    const told = /bridge\.yaml\.probation: .*remove this file/;
    const isTold = async (): Promise<void> => {
      await start.looked();
      await expect
        .poll(() => start.transactions.leftElsewhere()?.told)
        .toMatch(new RegExp(`on probation is not known: .*${told.source}`));
    };
    await isTold();
    await expect(start.tryOut({ bridge: { id: "plant-9" } })).rejects.toThrow(told);
    await isTold();
    expect(start.runs).toBe(42);
    expect(start.history).toMatchObject([{ version: 42, pending: true }]);
    expect(existsSync(note)).toBe(true);
    rmSync(note, { recursive: true });
    await start.looked();
    await expect.poll(() => start.transactions.leftElsewhere()).toBeUndefined();
  },
);

it("spec 4.9.8: a folder where the lock of the note belongs is named, with the remedy", async () => {
  await left(CHANGES["a change that moves the DLQ"], "is killed");
  rmSync(`${here.path}.probation-lock`);
  mkdirSync(`${here.path}.probation-lock`);
  await using start = await nextStart();
  expect(start.runs).toBe(42);
  expect(start.logged).toMatch(/bridge\.yaml\.probation-lock is no file, .*: move it away/);
  await start.looked();
  await expect.poll(() => start.transactions.leftElsewhere()?.told).toContain("probation-lock is no file");
});
