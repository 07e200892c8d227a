import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Binary, BINARY } from "./support/binary.ts";
import { INSIDE } from "./support/documents.ts";
import { Folder } from "./support/folder.ts";

const LOADING = 'console.error(JSON.stringify({ level: "info", msg: "loading" }));';

/** The built launcher, in front of a program of the test's own. */
function launched(folder: Folder, program: string, args: readonly string[] = []): Binary {
  const file = join(folder.path, "main.js");
  copyFileSync(BINARY, file);
  folder.write("package.json", '{"type":"module"}');
  folder.write("main-program.js", program);
  return new Binary(args, { cwd: folder.path, file });
}

describe("finding 5.9: a signal while the program is being loaded", () => {
  const forever = `${LOADING} await new Promise(() => setInterval(() => {}, 1_000));`;

  test.each([
    ["SIGTERM", [], 0],
    ["SIGINT", ["-config", "bridge.yaml"], 0],
    // What did not get to its answer must not look like a good one.
    ["SIGTERM", ["-validate"], "SIGTERM"],
    ["SIGTERM", ["--validate=true"], "SIGTERM"],
  ] as const)("%s with %j ends it with %s", async (signal, args, end) => {
    using folder = new Folder();
    await using bridge = launched(folder, forever, args);
    await bridge.logged("loading");
    bridge.kill(signal);
    expect(await bridge.ended).toBe(end);
  });

  test("SIGHUP asks for what is yet to be read, and ends nothing", async () => {
    using folder = new Folder();
    await using bridge = launched(folder, forever);
    await bridge.logged("loading");
    bridge.kill("SIGHUP");
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });

  test("at any moment of a start, it ends with 0", async () => {
    using folder = new Folder();
    folder.write("bridge.yaml", INSIDE);
    for (const [index, ms] of [0, 2, 20, 100, 400, 1_000].entries()) {
      await using bridge = folder.run();
      await bridge.takesSignals();
      await delay(ms * (0.5 + Math.random()));
      bridge.kill(index % 2 === 0 ? "SIGTERM" : "SIGINT");
      expect(await bridge.ended).toBe(0);
    }
  }, 300_000);

  test("is the program's own affair as soon as that takes signals", async () => {
    using folder = new Folder();
    const own = `process.on("SIGTERM", () => setTimeout(() => process.exit(7), 10)); ${forever}`;
    await using bridge = launched(folder, own);
    await bridge.logged("loading");
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(7);
  });
});
