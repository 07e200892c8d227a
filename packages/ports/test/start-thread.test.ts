import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

const MODULE = new URL("../src/start-thread.ts", import.meta.url).href;

/** Starts a thread in a process of its own, whose working directory is deleted before or not; tells what it said. */
async function startedIn(deleted: boolean): Promise<string> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "bridge-start-thread-"));
  const program = join(folder.path, "thread.mjs");
  writeFileSync(program, 'import { parentPort } from "node:worker_threads"; parentPort.postMessage("started");');
  const starter = `
    import { mkdirSync, rmdirSync } from "node:fs";
    import { startThread } from ${JSON.stringify(MODULE)};
    const gone = ${JSON.stringify(join(folder.path, "gone"))};
    mkdirSync(gone);
    process.chdir(gone);
    process.cwd();
    if (${deleted}) rmdirSync(gone);
    try {
      startThread(new URL(${JSON.stringify(pathToFileURL(program).href)}), { execArgv: [] }).once("message", console.log);
    } catch (error) {
      console.log(error.message);
    }`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", starter], { encoding: "utf8" }).trim();
}

test("a thread starts, and where the working directory is gone the error says what to do", async () => {
  expect(await startedIn(false)).toBe("started");
  expect(await startedIn(true)).toMatch(
    /^the working directory of this process, ".*gone", is gone: start the process again, in a folder that stays$/,
  );
});
