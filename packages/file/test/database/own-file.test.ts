import { isMainThread } from "node:worker_threads";
import { chmodSync, closeSync, statSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openOwn } from "../../src/database/own-file.ts";
import { scratchFolder } from "./support/notes.ts";

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

test.skipIf(!isMainThread).each([0o022, 0o277, 0o777])(
  "a file that is made is for its owner only, who may use it, whatever the umask says: %o",
  (mask) => {
    using scratch = scratchFolder();
    const former = process.umask(mask);
    try {
      closeSync(openOwn(scratch.path, "w"));
    } finally {
      process.umask(former);
    }
    expect(modeOf(scratch.path)).toBe(0o600);
  },
);

test("a file that is there keeps what others may do with it", () => {
  using scratch = scratchFolder();
  writeFileSync(scratch.path, "");
  chmodSync(scratch.path, 0o664);
  closeSync(openOwn(scratch.path, "a"));
  expect(modeOf(scratch.path)).toBe(0o664);
});
