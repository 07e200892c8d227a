import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { INSIDE } from "./support/documents.ts";
import { Folder } from "./support/folder.ts";
import { refusedStart } from "./support/refused-start.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());
mkdirSync(join(folder.path, "folder"));
symlinkSync(join(folder.path, "b"), join(folder.path, "a"));
symlinkSync(join(folder.path, "a"), join(folder.path, "b"));

const PLACES = ["/proc/x/y", "folder", "a"];

const FILES: Readonly<Record<string, (path: string) => string>> = {
  "stores.dlq": (path) => `stores: {dlq: {type: file, options: {path: ${path}}}}\n`,
  "audit.file": (path) => `audit: {log: false, file: {path: ${path}}}\n`,
};

test.for([
  ...Object.keys(FILES).flatMap((name) => PLACES.map((path) => [name, path] as const)),
  ["stores.dlq", "/dev/full"] as const,
])("finding 3.4: %s at %s ends the start, by name", async ([name, path]) => {
  const file = `${name}-${path.replaceAll("/", "_")}.yaml`;
  folder.write(file, INSIDE + FILES[name]?.(path));
  await using bridge = folder.run(["-config", file]);
  if (name === "audit.file") expect(await bridge.ended).toBe(1);
  else await refusedStart(bridge);
  expect(bridge.stderr).toContain(path);
  expect(bridge.stderr).not.toMatch(/\bat .*\(?.*:\d+:\d+\)?/);
});
