import { appendFileSync, cpSync, readFileSync, statSync } from "node:fs";
import { noSystemFaults, runProgram } from "@bridge/tooling/test-program";
import { describe, expect, test } from "vitest";
import { adding, Notes, scratchFolder } from "./support/notes.ts";

const program = new URL("support/note-writer.ts", import.meta.url);

function idsIn(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line.startsWith("written ")).map((line) => line.split(" ")[1] ?? "");
}

describe("a process that is killed", { timeout: 60_000 }, () => {
  test.each([1, 40, 700])("leaves everything that was done, after %i writes", async (lines) => {
    using scratch = scratchFolder();
    const { lines: said, code } = await runProgram({ program, args: [scratch.path] }, lines);
    expect(code).toBeNull();
    const done = idsIn(said);
    expect(done.length).toBeGreaterThanOrEqual(lines);
    await using notes = new Notes({ path: scratch.path });
    expect(notes.ids()).toEqual(expect.arrayContaining([...done]));
    expect(await notes.write(adding("next"))).toBe("next");
  });

  test("leaves everything that was done while the log was brought into the file", async () => {
    using scratch = scratchFolder();
    // 64 KB each: the log outgrows its size many times.
    const { lines: said } = await runProgram({ program, args: [scratch.path, "65536"] }, 900);
    const done = idsIn(said);
    expect(statSync(scratch.path).size).toBeGreaterThan(8 * 1024 * 1024);
    await using notes = new Notes({ path: scratch.path });
    expect(notes.ids()).toEqual(expect.arrayContaining([...done]));
  });
});

test("a write that was torn at the end of the log takes nothing with it that was done", async () => {
  using scratch = scratchFolder();
  using crashed = scratchFolder();
  {
    await using notes = new Notes({ path: scratch.path });
    for (const id of ["a", "b", "c"]) await notes.write(adding(id));
    cpSync(scratch.folder, crashed.folder, { recursive: true });
  }
  const log = `${crashed.path}-wal`;
  // The beginning of what would have been the next commit: a page as it was, cut off.
  appendFileSync(log, readFileSync(log).subarray(-4_120).subarray(0, 2_000));
  await using notes = new Notes({ path: crashed.path });
  expect(notes.ids()).toEqual(["a", "b", "c"]);
  expect(await notes.write(adding("d"))).toBe("d");
});

describe.skipIf(noSystemFaults)("a disk that fails (needs strace)", { timeout: 60_000 }, () => {
  test("what the disk has not confirmed is not done", async () => {
    using scratch = scratchFolder();
    const args = [scratch.path, "10", "1", "20"];
    const { lines } = await runProgram({ program, args, fault: "fdatasync:error=EIO" });
    expect(lines.filter((line) => /^refused n\d+: UNAVAILABLE .*the disk fails/.test(line))).toHaveLength(
      lines.length - 1,
    );
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.at(-1)).toBe("closed");
  });

  test.each(["fdatasync:error=EIO:when=3", "fsync:error=EIO:when=11..13", "pwrite64:error=EROFS:when=40..44"])(
    "it goes on by itself, with all that was done before and after: %s",
    async (fault) => {
      using scratch = scratchFolder();
      const { lines, code } = await runProgram({ program, args: [scratch.path, "300", "1000"], fault });
      expect(code).toBe(0);
      expect(lines.some((line) => /^refused n\d+: UNAVAILABLE /.test(line))).toBe(true);
      await using notes = new Notes({ path: scratch.path });
      expect(notes.ids()).toEqual(expect.arrayContaining([...idsIn(lines)]));
    },
  );

  test("a disk that fails from the start refuses the file, naming it", async () => {
    using scratch = scratchFolder();
    const { lines, code } = await runProgram({ program, args: [scratch.path], fault: "fsync:error=EIO" });
    expect(code).toBe(3);
    expect(lines).toEqual([expect.stringContaining(`not opened: ${scratch.path}: the disk fails`)]);
  });
});
