import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { scratchFolder } from "./support/notes.ts";

const program = fileURLToPath(new URL("support/without-descriptors.ts", import.meta.url));
const LIMITED = 'ulimit -n 256 && exec "$@"';

test.skipIf(process.platform === "win32")(
  "a file that cannot be opened for want of file descriptors says so and what to do, and can be when there are some",
  async () => {
    using scratch = scratchFolder();
    const node = [process.execPath, "--conditions=@bridge/source", program, scratch.path];
    const { stdout } = await promisify(execFile)("sh", ["-c", LIMITED, "sh", ...node]);
    const [first, ...lines] = stdout.trim().split("\n");
    expect([first, lines.pop()]).toEqual(["written n0", "written n0"].map(() => expect.stringMatching(/^written n/)));
    expect(lines).toHaveLength(9);
    for (const line of lines) {
      expect(line).toMatch(
        /^not opened, again in 1000: .*notes\.db: the process has no file descriptor left: allow it more \(ulimit -n/,
      );
    }
  },
);
