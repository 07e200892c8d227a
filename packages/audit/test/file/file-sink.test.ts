import { PATIENCE } from "@bridge/tooling/patience";
import { appendFileSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createAuditor } from "../../src/auditor.ts";
import { silentLogger, systemClock } from "@bridge/ports";
import { describe, expect, test, vi } from "vitest";
import { verifyFiles } from "../../src/file/verify.ts";
import { event, files, handClock, ids, lines, listLogger, openSink, scratch, writeAll } from "./support/scratch.ts";

const KEY = "a-key-of-the-operator-0123456789abcdef";

describe("contract 6: the file", () => {
  test("is JSON lines: the event, its number, and hashes that lead from each record to the one before", async () => {
    using folder = scratch();
    await writeAll(folder.path, ["a", "b"]);
    const [first, second] = lines(folder.path).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(first).toEqual({
      ...event("a"),
      begins: "chain",
      seq: 1,
      prev: "0".repeat(64),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(second).toMatchObject({ ...event("b"), seq: 2, prev: first?.["hash"] });
    expect(statSync(folder.path).mode & 0o777).toBe(0o600);
  });

  test("goes on where it ended", async () => {
    using folder = scratch();
    await writeAll(folder.path, ["a", "b"]);
    await writeAll(folder.path, ["c"]);
    expect(ids(folder.path)).toEqual(["a", "b", "c"]);
    expect(await verifyFiles([folder.path])).toMatchObject({ records: 3, resumed: [], break: undefined });
  });

  test("with a key of the operator's, the hashes are HMACs that nobody else can make", async () => {
    using folder = scratch();
    await writeAll(folder.path, ["a", "b"], { hmacKey: KEY });
    expect(readFileSync(folder.path, "utf8")).not.toContain(KEY);
    expect(await verifyFiles([folder.path], { keys: [KEY] })).toMatchObject({ records: 2, break: undefined });
    for (const keys of [[], [`${KEY}x`]])
      expect((await verifyFiles([folder.path], { keys })).break).toMatchObject({ line: 1 });
  });

  test("keeps the order in which events came, whether they wait for the disk or not", async () => {
    using folder = scratch();
    const names = Array.from({ length: 300 }, (_, n) => `${n}`);
    {
      await using sink = await openSink(folder.path);
      await Promise.all(names.map((name, n) => sink.write(event(name, n % 3 === 0 ? "dlq.list" : "dlq.purge"))));
    }
    expect(ids(folder.path)).toEqual(names);
  });

  test("is one process's at a time, and says so", async () => {
    using folder = scratch();
    {
      await using _ = await openSink(folder.path);
      await expect(openSink(folder.path)).rejects.toThrow(/audit\.jsonl is in use: only one process at a time/);
    }
    await writeAll(folder.path, ["a"]);
    expect(ids(folder.path)).toEqual(["a"]);
  });

  test.each(["some notes of mine\n", "some notes of mine", '{"a":1}\n'])(
    "leaves another program's alone: %j",
    async (text) => {
      using folder = scratch();
      writeFileSync(folder.path, text);
      await expect(openSink(folder.path)).rejects.toThrow(/is no audit file of a bridge/);
      expect(readFileSync(folder.path, "utf8")).toBe(text);
    },
  );

  test("makes the folder that it is to be in", async () => {
    using folder = scratch();
    const path = join(folder.folder, "a/b/audit.jsonl");
    await writeAll(path, ["a"]);
    expect(ids(path)).toEqual(["a"]);
  });

  test("takes nothing once it is closed", async () => {
    using folder = scratch();
    const sink = await openSink(folder.path);
    await sink[Symbol.asyncDispose]();
    await sink[Symbol.asyncDispose]();
    await expect(sink.write(event("a"))).rejects.toThrow("is closed");
  });
});

describe("contract 6: rotation", () => {
  const options = { maxBytes: 4096, keep: 3 };
  const names = Array.from({ length: 100 }, (_, n) => `${n}`);

  test("begins a new file before the size is passed, keeps so many, and the chain goes through them", async () => {
    using folder = scratch();
    await writeAll(folder.path, names, options);
    const all = files(folder.folder);
    expect(all).toHaveLength(4);
    for (const file of all) {
      expect(statSync(file).size).toBeLessThanOrEqual(4096);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    const kept = all.flatMap(ids);
    expect(kept).toEqual(names.slice(-kept.length));
    const verified = await verifyFiles(all.toReversed());
    expect(verified).toMatchObject({ records: kept.length, break: undefined });
    expect(verified.files.map(({ path }) => path)).toEqual(all);
  });

  test("in the middle of a group", async () => {
    using folder = scratch();
    {
      await using sink = await openSink(folder.path, { maxBytes: 4096, keep: 100 });
      await Promise.all(names.map((name) => sink.write(event(name))));
    }
    expect(files(folder.folder).flatMap(ids)).toEqual(names);
    expect(await verifyFiles(files(folder.folder))).toMatchObject({ records: 100, break: undefined });
  });

  test("a crash between the full file and the new one breaks nothing", async () => {
    using folder = scratch();
    await writeAll(folder.path, names.slice(0, 20), options);
    const lost = ids(folder.path);
    rmSync(folder.path);
    await writeAll(folder.path, ["next"], options);
    const [full = "", current = ""] = files(folder.folder).slice(-2);
    expect(lost.length).toBeGreaterThan(0);
    expect(await verifyFiles([full, current])).toMatchObject({ break: undefined });
    expect(ids(current)).toEqual(["next"]);
  });

  test("a record that is larger than a file has one of its own", async () => {
    using folder = scratch();
    await writeAll(folder.path, ["a", "x".repeat(10_000), "b"], options);
    expect(files(folder.folder)).toHaveLength(3);
    expect(await verifyFiles(files(folder.folder))).toMatchObject({ records: 3, break: undefined });
  });
});

describe("contract 6: after a crash", () => {
  test.each([1, 40, 200])("a line torn %i bytes after its start is cut off, and a record says so", async (left) => {
    using folder = scratch();
    await writeAll(folder.path, ["a", "b"]);
    const whole = readFileSync(folder.path);
    const start = whole.lastIndexOf("\n", whole.length - 2) + 1;
    truncateSync(folder.path, start + left);
    expect(await verifyFiles([folder.path])).toMatchObject({ records: 1, torn: { bytes: left }, break: undefined });
    const { logged, logger } = listLogger();
    await writeAll(folder.path, ["c"], { logger });
    expect(logged[0]).toMatchObject({ msg: "audit file resumed", torn_bytes: left });
    const verified = await verifyFiles([folder.path]);
    expect(verified).toMatchObject({ records: 3, torn: undefined, break: undefined });
    expect(verified.resumed).toEqual([
      { file: folder.path, line: 2, seq: 2, lost: 0, unwritten: 0, tornBytes: left, plain: false },
    ]);
  });

  test("so is a first line, and what a disk without power has left", async () => {
    using folder = scratch();
    for (const torn of ['{"timest', "\0".repeat(5_000)]) {
      writeFileSync(folder.path, torn);
      await writeAll(folder.path, ["a"]);
      expect(await verifyFiles([folder.path])).toMatchObject({ records: 2, break: undefined });
    }
  });

  test("a last record that was changed is not covered up", async () => {
    using folder = scratch();
    await writeAll(folder.path, ["a", "b"]);
    writeFileSync(folder.path, readFileSync(folder.path, "utf8").replace('"b"', '"x"'));
    const { logged, logger } = listLogger();
    await writeAll(folder.path, ["c"], { logger });
    expect(logged[0]).toMatchObject({ msg: "audit file resumed", intact: false });
    expect((await verifyFiles([folder.path])).break).toMatchObject({ line: 2, message: /record 2 was changed/ });
  });

  test("nor is a line that is none", async () => {
    using folder = scratch();
    await writeAll(folder.path, ["a"]);
    appendFileSync(folder.path, "what is this?\n");
    await writeAll(folder.path, ["c"]);
    expect((await verifyFiles([folder.path])).break).toMatchObject({ line: 2 });
  });

  test("a chain that goes on with another key is verified with both", async () => {
    using folder = scratch();
    await writeAll(folder.path, ["plain"]);
    await writeAll(folder.path, ["a"], { hmacKey: KEY });
    await writeAll(folder.path, ["b"], { hmacKey: `${KEY}-new` });
    const keys = [KEY, `${KEY}-new`];
    // Each change is noted in a record of its own: nobody else could.
    expect(await verifyFiles([folder.path], { keys, keyedFrom: 2 })).toMatchObject({
      records: 5,
      break: undefined,
      resumed: [
        { seq: 2, plain: true },
        { seq: 4, plain: false },
      ],
    });
    await writeAll(folder.path, ["forged"]);
    expect((await verifyFiles([folder.path], { keys, keyedFrom: 2 })).break?.message).toMatch(/has no HMAC/);
  });

  test("a chain that was made anew without the key is a break, also where the bridge went on behind it", async () => {
    using folder = scratch();
    await writeAll(folder.path, ["forged", "too"]);
    const message = /record 1 has no HMAC/;
    expect((await verifyFiles([folder.path], { keys: [KEY] })).break).toMatchObject({ line: 1, message });
    await writeAll(folder.path, ["real"], { hmacKey: KEY });
    expect((await verifyFiles([folder.path], { keys: [KEY] })).break).toMatchObject({ line: 1, message });
    expect(await verifyFiles([folder.path], { keys: [KEY], keyedFrom: 3 })).toMatchObject({
      break: undefined,
      resumed: [{ seq: 3, plain: true }],
    });
  });
});

describe("contract 6: the head", () => {
  test("is logged when the file is opened, each minute in which there was a record, and at the end", async () => {
    using folder = scratch();
    await writeAll(folder.path, ["a"]);
    const { logged, logger } = listLogger();
    const { clock, tick } = handClock();
    const sink = await openSink(folder.path, { clock, logger });
    await sink.write(event("b"));
    tick();
    await sink.write(event("c"));
    tick();
    tick();
    await sink[Symbol.asyncDispose]();
    expect(logged.map(({ msg, record }) => [msg, record])).toEqual([
      ["audit head", 1],
      ["audit head", 2],
      ["audit head", 3],
    ]);
    for (const { head } of logged)
      expect(await verifyFiles([folder.path], { head: String(head) })).toMatchObject({ break: undefined });
  });

  test("a file that somebody has moved away is noticed, and the chain goes on in a new one", async () => {
    using folder = scratch();
    const { logged, logger } = listLogger();
    const { clock, tick } = handClock();
    {
      await using sink = await openSink(folder.path, { clock, logger });
      await sink.write(event("a"));
      renameSync(folder.path, `${folder.path}.moved`);
      tick();
      await sink.write(event("b"));
    }
    expect(logged.filter(({ found }) => found === "gone")).toMatchObject([
      { msg: expect.stringContaining("audit file was moved") as string, file: folder.path },
      { msg: "audit file resumed", file: folder.path, lost: 1 },
    ]);
    expect(ids(folder.path)).toEqual([folder.path, "b"]);
    expect(await verifyFiles([folder.path, `${folder.path}.moved`])).toMatchObject({ records: 3, break: undefined });
  });
});

describe("finding 5: what somebody does to the file is noticed with the next event, and the record before it says so", () => {
  const details = (path: string) =>
    lines(path).map(
      (line) => (JSON.parse(line) as { readonly detail: { readonly file?: string; readonly lost?: number } }).detail,
    );

  test.each([
    ["deleted with its folder", "gone", (path: string) => rmSync(dirname(path), { recursive: true })],
    ["replaced by an empty one", "replaced", (path: string) => (rmSync(path), writeFileSync(path, ""))],
  ])("%s", async (_, found, harm) => {
    using folder = scratch();
    const path = join(folder.folder, "inner", "audit.jsonl");
    {
      await using sink = await openSink(path);
      await sink.write(event("a"));
      await sink.write(event("b"));
      harm(path);
      await sink.ready();
      await sink.write(event("c"));
      await expect(openSink(path)).rejects.toThrow(/is in use/);
    }
    expect(ids(path)).toEqual([path, "c"]);
    expect(details(path)[0]).toMatchObject({ file: found, lost: 2 });
  });

  test("a file that cannot be made again refuses changes until it can, and says why", async () => {
    using folder = scratch();
    const path = join(folder.folder, "inner", "audit.jsonl");
    await using sink = await openSink(path);
    await using auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [sink] });
    const change = { action: "dlq.purge", actor: "alice", outcome: "success", clientAddr: "" } as const;
    await auditor.record(change);
    rmSync(dirname(path), { recursive: true });
    writeFileSync(dirname(path), "in the way");
    expect(await auditor.hasRoomFor("dlq.purge")).toBe(false);
    expect(await auditor.hasRoomFor("dlq.list")).toBe(true);
    expect(await auditor.record(change)).toBe(false);
    expect(auditor.faults().get("file")).toMatch(/inner/);
    rmSync(dirname(path));
    expect(await auditor.hasRoomFor("dlq.purge")).toBe(true);
    expect(await auditor.record(change)).toBe(true);
    expect(auditor.faults()).toEqual(new Map());
    expect(details(path)).toMatchObject([{ file: "gone", lost: 1, unwritten: 1 }, {}]);
  });

  test("without any event it is noticed at the next look", async () => {
    using folder = scratch();
    const path = join(folder.folder, "inner", "audit.jsonl");
    const { clock, tick } = handClock();
    const { logged, logger } = listLogger();
    await using sink = await openSink(path, { clock, logger });
    rmSync(dirname(path), { recursive: true });
    writeFileSync(dirname(path), "in the way");
    tick();
    await vi.waitFor(() => expect(sink.fault?.()).toMatch(/inner/), PATIENCE);
    tick();
    await expect(sink.ready()).rejects.toThrow(/inner/);
    expect(logged.filter(({ msg }) => msg === "audit file failed")).toHaveLength(1);
    rmSync(dirname(path));
    tick();
    await vi.waitFor(() => expect(details(path)).toMatchObject([{ file: "gone" }]), PATIENCE);
    await vi.waitFor(() => expect(sink.fault?.()).toBeUndefined(), PATIENCE);
  });

  test("a device is no file", async () => {
    await expect(openSink("/dev/full")).rejects.toThrow("/dev/full: is no regular file: name a file");
  });
});
