import { expect, test } from "vitest";
import { FileFault } from "../../src/database/file-fault.ts";

test.each(["full", "read_only", "failing"] as const)(
  "%s: what it promises is true of a process that ends because of it, too",
  (fault) => {
    expect(new FileFault("notes.db", fault).message).toMatch(
      /[;,] (?:and )?a bridge that runs (?:goes on|tries again)/,
    );
  },
);

test.each(["EMFILE", "ENFILE"])("%s is no fault of the disk, and says what to do", (code) => {
  const thrown = Object.assign(new Error(`${code}: open`), { code, syscall: "open" });
  expect(FileFault.of("notes.db", thrown)?.message).toMatch(/no file descriptor left: allow it more \(ulimit -n/);
});
