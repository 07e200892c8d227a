import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuditor } from "../../src/auditor.ts";
import { silentLogger, systemClock } from "@bridge/ports";
import { noSmallDisk, smallDisk } from "@bridge/tooling/faulty-disk";
import { noSystemFaults, runProgram } from "@bridge/tooling/test-program";
import { describe, expect, test } from "vitest";
import { type Verification, verifyFiles } from "../../src/file/verify.ts";
import { event, files, ids, listLogger, openSink, scratch, writeAll } from "./support/scratch.ts";

const program = new URL("support/event-writer.ts", import.meta.url);
const ENTRY = { action: "dlq.purge", actor: "alice", outcome: "success", clientAddr: "10.0.0.7" } as const;

function said(word: "written" | "refused", lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line.startsWith(`${word} `)).map((line) => /n\d+/.exec(line)?.[0] ?? "");
}

/** Events that could not be written, as the records say; of those that were written none is gone. */
function unwrittenOf({ resumed }: Verification): number {
  expect(resumed.filter(({ lost, harm }) => lost > 0 || harm !== undefined)).toEqual([]);
  return resumed.reduce((sum, { unwritten }) => sum + unwritten, 0);
}

describe("contract 6: a process that is killed", { timeout: 60_000 }, () => {
  test.each([1, 50, 400])("leaves each event that was confirmed, in a sound chain, after %i of them", async (count) => {
    using folder = scratch();
    const { lines, code } = await runProgram({ program, args: [folder.path] }, count);
    expect(code).toBeNull();
    await writeAll(folder.path, ["next"]);
    const all = files(folder.folder);
    expect(await verifyFiles(all)).toMatchObject({ break: undefined, torn: undefined });
    expect(all.flatMap(ids)).toEqual(expect.arrayContaining([...said("written", lines), "next"]));
  });
});

describe.skipIf(noSmallDisk)("contract 6: a full disk (needs the right to mount)", () => {
  test("fails no caller, is counted, and when there is room the chain goes on and says what is missing", async () => {
    using disk = smallDisk(256);
    const path = join(disk.folder, "audit.jsonl");
    const ballast = join(disk.folder, "ballast");
    const sink = await openSink(path);
    const auditor = createAuditor({ clock: systemClock, logger: silentLogger, sinks: [sink] });
    await auditor.record({ ...ENTRY, resourceId: "before" });
    expect(() => writeFileSync(ballast, Buffer.alloc(1024 * 1024))).toThrow(/ENOSPC/);
    while (auditor.failures().get("file") === 0) await auditor.record({ ...ENTRY, resourceId: "x".repeat(3_000) });
    for (let n = 0; n < 4; n++) await auditor.record({ ...ENTRY, resourceId: "lost" });
    expect(auditor.failures().get("file")).toBe(5);
    expect((await verifyFiles([path])).break).toBeUndefined();
    rmSync(ballast);
    await auditor.record({ ...ENTRY, resourceId: "after" });
    expect(auditor.failures().get("file")).toBe(5);
    await auditor[Symbol.asyncDispose]();
    const verified = await verifyFiles([path]);
    expect(verified).toMatchObject({ break: undefined, torn: undefined });
    expect(unwrittenOf(verified)).toBe(5);
    expect(ids(path).at(0)).toBe("before");
    expect(ids(path).at(-1)).toBe("after");
  });

  test("is told in the log when it begins and when it is over, however many calls were refused meanwhile", async () => {
    using disk = smallDisk(256);
    const path = join(disk.folder, "audit.jsonl");
    const ballast = join(disk.folder, "ballast");
    const { logged, logger } = listLogger();
    const auditor = createAuditor({ clock: systemClock, logger, sinks: [await openSink(path, { logger })] });
    /** As a server does: a call that is refused is an event, too. */
    const call = async (resourceId: string): Promise<boolean> => {
      const goesOn = await auditor.hasRoomFor(ENTRY.action);
      await auditor.record({ ...ENTRY, resourceId, refused: !goesOn });
      return goesOn;
    };
    expect(await call("before")).toBe(true);
    expect(() => writeFileSync(ballast, Buffer.alloc(1024 * 1024))).toThrow(/ENOSPC/);
    // The last page of the file may have room for some short records.
    while (await call("x".repeat(3_000)));
    for (let n = 0; n < 30; n++) expect(await call("refused")).toBe(false);
    rmSync(ballast);
    expect(await call("after")).toBe(true);
    await auditor[Symbol.asyncDispose]();
    const ofSink = logged.filter(({ sink }) => sink === "file");
    expect(ofSink).toMatchObject([
      { msg: "audit sink failed", error: expect.stringContaining("the disk is full") as string },
      { msg: "audit sink works again", unwritten: auditor.failures().get("file") },
    ]);
    // As many lines as records that say so.
    const told = logged.filter(({ msg }) => msg === "audit file resumed");
    const { resumed } = await verifyFiles([path]);
    expect(told.map(({ record }) => record)).toEqual(resumed.map(({ seq }) => seq));
  });

  test("is told in words", async () => {
    using disk = smallDisk(64);
    await using sink = await openSink(join(disk.folder, "audit.jsonl"));
    await expect(sink.write(event("x".repeat(200_000)))).rejects.toThrow(/audit\.jsonl: the disk is full: make room/);
  });
});

describe.skipIf(noSystemFaults)("contract 6: a disk that fails (needs strace)", { timeout: 60_000 }, () => {
  test.each(["fdatasync:error=EIO:when=3", "fdatasync:error=EIO:when=4..6", "fsync:error=EIO:when=3..5"])(
    "what was confirmed is there, what was not is counted, and the chain stays sound: %s",
    async (fault) => {
      using folder = scratch();
      const { lines, code, stderr } = await runProgram({ program, args: [folder.path, "1000"], fault });
      expect([code, stderr]).toEqual([0, ""]);
      const verified = await verifyFiles(files(folder.folder));
      expect(verified).toMatchObject({ break: undefined, torn: undefined });
      const kept = new Set(files(folder.folder).flatMap(ids));
      expect(said("written", lines).filter((id) => !kept.has(id))).toEqual([]);
      const lost = said("refused", lines).filter((id) => !kept.has(id)).length;
      expect(unwrittenOf(verified)).toBe(lost);
    },
  );
});
