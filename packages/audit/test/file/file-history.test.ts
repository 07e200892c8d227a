import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { systemClock } from "@bridge/ports";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AuditEvent } from "../../src/event.ts";
import { FileHistory } from "../../src/file/file-history.ts";
import { readRecord, seal } from "../../src/file/record.ts";
import { event, files, openSink, scratch } from "./support/scratch.ts";

const signal = new AbortController().signal;

/** With another fifth record, whose own hash is right. */
function forged(text: string): string {
  const lines = text.split("\n");
  const fourth = readRecord(Buffer.from(lines[3] ?? ""));
  const after = { seq: 4, hash: fourth?.hash ?? "" };
  return lines.toSpliced(4, 1, seal(event("n9"), after, undefined).line).join("\n");
}

/** All pages of a list, from the newest on. */
async function all(history: FileHistory, limit: number, between: (page: number) => Promise<void> = async () => {}) {
  const events: AuditEvent[] = [];
  const breaks: number[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await history.read({}, limit, cursor, signal);
    events.push(...page.events);
    if (page.breakAt !== undefined) breaks.push(page.breakAt);
    cursor = page.next;
    await between(pages++);
  } while (cursor !== undefined && pages < 1_000);
  return { ids: events.map(({ resource_id: id }) => id), breaks };
}

describe("operators 6.5: the audit file read back", () => {
  test("each record once, newest first, whatever the pages and files, while others are written", async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 7 }), async (lengths, limit) => {
        using folder = scratch();
        await using sink = await openSink(folder.path, { maxBytes: 8_192, keep: 100 });
        const names = lengths.map((length, n) => `${n}-${"x".repeat(length)}`);
        for (const name of names) await sink.write(event(name));
        let later = 0;
        const { ids, breaks } = await all(sink.history as FileHistory, limit, async () => {
          if (later++ < 5) await sink.write(event(`later-${"y".repeat(3_000)}`));
        });
        expect([ids, breaks]).toEqual([names.toReversed(), []]);
      }),
      { numRuns: 20 },
    );
  });

  test("a line that is longer than what is read at once, and one that is not written to its end", async () => {
    using folder = scratch();
    await using sink = await openSink(folder.path, { hmacKey: "a-key-of-the-operator-0123456789abcdef" });
    const names = ["a", `b-${"é".repeat(100_000)}`, "c"];
    for (const name of names) await sink.write(event(name));
    appendFileSync(folder.path, '{"timestamp":"2026');
    expect(await all(sink.history as FileHistory, 10)).toEqual({ ids: names.toReversed(), breaks: [] });
  });

  test("says at which record the chain is broken: a changed one, one that is gone, one that was replaced", async () => {
    for (const [change, breakAt] of [
      [(text: string) => text.replace('"n4"', '"n9"'), 5],
      [(text: string) => text.split("\n").toSpliced(4, 1).join("\n"), 6],
      [forged, 6],
    ] as const) {
      using folder = scratch();
      await using sink = await openSink(folder.path);
      for (let n = 0; n < 8; n++) await sink.write(event(`n${n}`));
      writeFileSync(folder.path, change(readFileSync(folder.path, "utf8")));
      const history = new FileHistory(folder.path, undefined, systemClock);
      expect((await history.read({}, 100, undefined, signal)).breakAt).toBe(breakAt);
      expect((await history.verify(signal)).problem).toMatch(/record [56]/);
    }
  });

  test("is whole while files become full, and old ones are deleted, as it is read", async () => {
    using folder = scratch();
    await using sink = await openSink(folder.path, { maxBytes: 2_048, keep: 3 });
    const history = sink.history as FileHistory;
    const over = new AbortController();
    const writer = (async () => {
      for (let n = 0; !over.signal.aborted; n++) await sink.write(event(`n${n}`));
    })();
    try {
      const found: unknown[] = [];
      for (let n = 0; n < 30; n++) {
        const { problem } = await history.verify(signal);
        const { breakAt } = await history.read({}, 1_000, undefined, signal);
        found.push(problem ?? breakAt);
      }
      expect(found.filter((one) => one !== undefined)).toEqual([]);
    } finally {
      over.abort();
      await writer;
    }
    // It was not for want of looking.
    const [first = ""] = files(folder.folder);
    writeFileSync(first, readFileSync(first, "utf8").replace("alice", "mallo"));
    expect((await history.verify(signal)).problem).toMatch(/was changed/);
  });

  test("waits for the file that follows a full one, and says what is wrong and what to do when none comes", async () => {
    using folder = scratch();
    {
      await using sink = await openSink(folder.path, { maxBytes: 1_024, keep: 9 });
      for (let n = 0; n < 12; n++) await sink.write(event(`n${n}`));
    }
    const history = new FileHistory(folder.path, undefined, systemClock);
    const away = `${folder.path}.away`;
    renameSync(folder.path, away);
    const verifying = history.verify(signal);
    setTimeout(() => renameSync(away, folder.path), 100);
    expect(await verifying).toMatchObject({ records: 12 });
    rmSync(folder.path);
    mkdirSync(folder.path);
    const words = `${folder.path}: is a folder: name a file`;
    await expect(history.verify(signal)).rejects.toThrow(words);
    await expect(history.read({}, 10, undefined, signal)).rejects.toThrow(words);
  });

  test("goes no further back than it was asked to, and reads a bounded part at once", async () => {
    using folder = scratch();
    await using sink = await openSink(folder.path, { maxBytes: 64 * 1024 * 1024 });
    for (let n = 0; n < 60; n++) await sink.write(event(`${n}-${"x".repeat(100_000)}`));
    const first = await (sink.history as FileHistory).read({}, 1_000, undefined, signal);
    expect(first.events.length).toBeGreaterThan(35);
    expect(first.events.length).toBeLessThan(45);
    expect(first.next).toBeDefined();
    expect(await (sink.history as FileHistory).read({ since: Date.UTC(2030, 0) }, 10, undefined, signal)).toEqual({
      events: [],
    });
    expect(files(folder.folder)).toHaveLength(1);
  });

  test("refuses a cursor that it has not given", async () => {
    using folder = scratch();
    await using sink = await openSink(folder.path);
    await sink.write(event("a"));
    for (const cursor of ["", "x", Buffer.from(`1|1|99999|${"0".repeat(64)}`).toString("base64url")])
      await expect((sink.history as FileHistory).read({}, 10, cursor, signal)).rejects.toThrow(RangeError);
  });

  test("a verification is given up when its time is over", async () => {
    using folder = scratch();
    await using sink = await openSink(folder.path);
    await sink.write(event("a"));
    await expect((sink.history as FileHistory).verify(AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  });
});
