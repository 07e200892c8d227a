import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSmallFile, readSmallFileSync } from "../src/small-file.ts";

const folder = mkdtempSync(join(tmpdir(), "bridge-small-"));
const at = (name: string): string => join(folder, name);
let socket: Server;

beforeAll(async () => {
  execFileSync("sh", ["-c", `mkfifo "$0"`, at("pipe")]);
  for (const name of ["exact", "longer", "huge"]) writeFileSync(at(name), "0123456789");
  truncateSync(at("longer"), 11);
  truncateSync(at("huge"), 2 ** 30);
  writeFileSync(at("empty"), "");
  socket = createServer();
  await new Promise<void>((resolve) => socket.listen(at("socket"), resolve));
});
afterAll(() => {
  socket.close();
  rmSync(folder, { recursive: true });
});

const READERS = { readSmallFile, readSmallFileSync: async (path: string, max: number) => readSmallFileSync(path, max) };

describe.each(Object.entries(READERS))("%s", (_, read) => {
  test.each([
    ["exact", "0123456789"],
    ["empty", ""],
  ])("has what is in a file that is %s", async (name, content) => {
    expect((await read(at(name), 10)).toString()).toBe(content);
  });

  test.each([
    ["longer", "it has more than 10 bytes"],
    ["huge", "it has more than 10 bytes"],
    ["pipe", "it is no file"],
    [".", "it is no file"],
    ["/dev/zero", "it is no file"],
    ["socket", "ENXIO"],
    ["missing", "ENOENT"],
  ])("refuses %s at once", async (name, why) => {
    await expect(read(name.startsWith("/") ? name : at(name), 10)).rejects.toThrow(why);
  });
});
