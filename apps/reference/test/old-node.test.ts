import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Binary, BINARY } from "./support/binary.ts";
import { Folder, HTTP } from "./support/folder.ts";
import { oldNode } from "./support/old-node.ts";

const folder = new Folder();
let node = "";

beforeAll(async () => {
  node = await oldNode(folder.path);
}, 120_000);
afterAll(() => folder[Symbol.dispose]());

const config = (): string => folder.write("bridge.yaml", `bridge: {id: old-node}\n${HTTP}`);

describe("finding 9.1: started by a Node that is too old for the bridge", () => {
  test("the Node of the repository runs it, and its answer and exit code are the bridge's", async () => {
    await using version = folder.run(["-version"], {}, node);
    expect(await version.ended).toBe(0);
    expect(version.stdout).toMatch(/^bridge \d/);
    await using misused = folder.run(["-no-such-flag"], {}, node);
    expect(await misused.ended).toBe(2);
    expect(misused.stderr).toMatch(/^bridge: .+\n\nusage: bridge/);
  });

  test("a signal ends the bridge once, and cleanly", async () => {
    await using bridge = folder.run(["-config", config()], {}, node);
    await bridge.url("monitor");
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
    expect(bridge.log.map(({ msg }) => msg)).toContain("stopped cleanly");
  });

  test("the bridge ends when what launched it is killed", async () => {
    await using bridge = folder.run(["-config", config()], {}, node);
    const url = await bridge.url("monitor");
    bridge.kill("SIGKILL");
    // Its standard error closes when the bridge itself has gone.
    await bridge.ended;
    expect(bridge.log.map(({ msg }) => msg)).toContain("stopped cleanly");
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  test("without a newer one it says which is needed", async () => {
    const file = join(folder.path, "main.mjs");
    copyFileSync(BINARY, file);
    await using bridge = new Binary(["-version"], { cwd: folder.path, node, file });
    expect(await bridge.ended).toBe(1);
    expect(bridge.stderr).toMatch(
      /^bridge: this is Node \d+\.\d+\.\d+, and Node 22\.19 or newer is needed\. Install one/,
    );
  });
});
