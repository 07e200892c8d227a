import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { build } from "esbuild";
import { noticesFor } from "../notices.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "bridge-notices-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

async function notices(): Promise<string> {
  const options = { absWorkingDir: folder, bundle: true, metafile: true, write: false, format: "esm" } as const;
  const { metafile } = await build({ ...options, entryPoints: ["main.js"] });
  return noticesFor(metafile, folder);
}

describe("third-party notices", () => {
  test("name each package that is bundled, with its licence in full, and no other", async () => {
    write("main.js", 'import one from "one"; import two from "@scope/two"; console.log(one, two);');
    write("node_modules/one/package.json", '{"name":"one","version":"1.2.3","license":"MIT","main":"index.js"}');
    write("node_modules/one/index.js", "export default 1;");
    write("node_modules/one/LICENSE.md", "Permission by One.");
    write(
      "node_modules/@scope/two/package.json",
      '{"name":"@scope/two","version":"2.0.0","license":"ISC","author":"Two"}',
    );
    write("node_modules/@scope/two/index.js", "export default 2;");
    write("node_modules/three/package.json", '{"name":"three","version":"3.0.0"}');
    const text = await notices();
    expect(text).toContain("one 1.2.3 (MIT)\n\nPermission by One.");
    expect(text).toContain("@scope/two 2.0.0 (ISC)\n\nLicence: ISC, by Two");
    expect(text).not.toContain("three");
  });

  test("a package that gives no licence fails the build", async () => {
    write("main.js", 'import "none";');
    write("node_modules/none/package.json", '{"name":"none","version":"0.0.1"}');
    write("node_modules/none/index.js", "console.log(1);");
    await expect(notices()).rejects.toThrow("none 0.0.1 has no licence");
  });
});
