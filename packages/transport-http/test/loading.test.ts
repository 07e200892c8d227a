import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const LIST = `
  import { createRequire } from "node:module";
  await import(process.argv[1]);
  console.log(JSON.stringify(Object.keys(createRequire(process.argv[1]).cache)));
`;

test("of the client library only what sends is loaded", async () => {
  const index = new URL("../src/index.ts", import.meta.url).href;
  const flags = ["--conditions=@bridge/source", "--input-type=module", "--eval", LIST, index];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  const loaded = (JSON.parse(stdout) as string[]).map((file) => file.replaceAll("\\", "/"));
  expect(loaded.some((file) => file.endsWith("/undici/lib/dispatcher/pool.js"))).toBe(true);
  expect(loaded.filter((file) => /\/undici\/(?:index\.js|lib\/(?:mock|cache|web)\/)/.test(file))).toEqual([]);
});
