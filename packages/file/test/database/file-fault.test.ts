import { expect, test } from "vitest";
import { FileFault } from "../../src/database/file-fault.ts";

test.each(["full", "read_only", "forbidden", "failing", "no_descriptors"] as const)(
  "%s: says what to do, and nothing of what the process does then, which may be about to end",
  (fault) => {
    const { message, words } = new FileFault("notes.db", fault);
    expect(message).toBe(`notes.db: ${words}`);
    expect(words).toMatch(/: \w+ /);
    expect(words).not.toMatch(/goes on|tries again|by itself|wait/);
  },
);

test.each(["EMFILE", "ENFILE"])("%s is no fault of the disk, and says what to do", (code) => {
  const thrown = Object.assign(new Error(`${code}: open`), { code, syscall: "open" });
  expect(FileFault.of("notes.db", thrown)?.message).toMatch(/no file descriptor left: allow it more \(ulimit -n/);
});
