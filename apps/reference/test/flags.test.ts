import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { Folder } from "./support/folder.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

describe("contract 7: flags of the binary", () => {
  test.each(["-version", "--version"])("%s", async (flag) => {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    await using bridge = folder.run([flag]);
    expect(await bridge.ended).toBe(0);
    expect(bridge.stdout).toBe(`bridge ${version}\n`);
    expect(bridge.stderr).toBe("");
  });

  test("-help", async () => {
    await using bridge = folder.run(["-help"]);
    expect(await bridge.ended).toBe(0);
    expect(bridge.stdout).toMatch(/^usage: bridge \[flags\]\n/);
    expect(bridge.stdout).toContain("-config FILE");
    expect(bridge.stderr).toBe("");
  });

  test.each([[["-no-such-flag"]], [["-start-empty=perhaps"]], [["-config"]], [["bridge.yaml"]]])(
    "spec 3.4: %j is a usage error: 2, and the usage on standard error",
    async (args) => {
      await using bridge = folder.run(args);
      expect(await bridge.ended).toBe(2);
      expect(bridge.stderr).toMatch(/^bridge: .+\n\nusage: bridge \[flags\]\n/);
      expect(bridge.stdout).toBe("");
    },
  );
});
