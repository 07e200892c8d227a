import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { adding, Notes, scratchFolder } from "./support/notes.ts";

const MEGABYTE = 1024 * 1024;
const LOG_BYTES = 8 * MEGABYTE;

test("the log stays bounded while writes go on, as it is brought into the file", { timeout: 60_000 }, async () => {
  using scratch = scratchFolder();
  await using notes = new Notes({ path: scratch.path });
  let largest = 0;
  for (let i = 0; i < 1_500; i += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, j) => notes.write(adding(`${i + j}`, 65_536))));
    largest = Math.max(largest, statSync(`${scratch.path}-wal`).size);
  }
  // 100 MB went through it.
  expect(largest).toBeGreaterThan(LOG_BYTES);
  expect(largest, "it grows while it is brought in, which takes as long as the disk does").toBeLessThan(8 * LOG_BYTES);
  expect(statSync(scratch.path).size).toBeGreaterThan(50 * MEGABYTE);
  expect(notes.ids()).toHaveLength(1_500);
});

test("it works in a program that was bundled into one file", { timeout: 60_000 }, async () => {
  using scratch = scratchFolder();
  const tsup = createRequire(import.meta.url).resolve("tsup/dist/cli-default.js");
  const config = fileURLToPath(new URL("support/bundle.config.ts", import.meta.url));
  const run = promisify(execFile);
  await run(process.execPath, [tsup, "--config", config, "--out-dir", scratch.folder, "--silent"], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
  });
  const bundle = join(scratch.folder, "note-writer.js");
  const path = join(scratch.folder, "data", "notes.db");
  const { stdout, stderr } = await run(process.execPath, [bundle, path, "65536", "400"]);
  expect(stderr).toBe("");
  expect(stdout.trim().split("\n").at(-1)).toBe("closed");
  await using notes = new Notes({ path });
  expect(notes.ids().length).toBeGreaterThanOrEqual(400);
});
