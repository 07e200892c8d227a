import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { scratchFolder } from "./support/notes.ts";
import { hidesDescriptors } from "./support/system-calls.ts";

const program = fileURLToPath(new URL("support/without-descriptors.ts", import.meta.url));
const LIMITED = 'ulimit -n 256 && exec "$@"';

test.skipIf(hidesDescriptors)(
  "a file that cannot be opened for want of file descriptors says so and what to do, takes none of them, and can be when there are enough",
  async () => {
    using scratch = scratchFolder();
    const node = [process.execPath, "--conditions=@bridge/source", program, scratch.path];
    const { stdout } = await promisify(execFile)("sh", ["-c", LIMITED, "sh", ...node]);
    const lines = stdout.trim().split("\n");
    const refused = lines.filter((line) => line.startsWith("not opened"));
    expect(lines.filter((line) => !refused.includes(line))).toEqual([
      "written n0",
      "written n1",
      "holds up to 0 more",
      "let go with its log",
      "let go with its log",
      "holds up to 0 more",
    ]);
    expect(refused.length).toBeGreaterThan(9);
    for (const line of refused) {
      expect(line).toMatch(
        /^not opened, again in 1000: .*notes\.db: the process has no file descriptor left: allow it more \(ulimit -n/,
      );
    }
  },
);
