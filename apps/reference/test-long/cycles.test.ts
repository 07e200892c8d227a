import { execFile } from "node:child_process";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Folder } from "../test/support/folder.ts";
import { Mosquitto } from "../test/support/mosquitto.ts";
import type { Cycled } from "./support/cycling.ts";

const CYCLES = 500;
/** What a heap may move by itself over {@link CYCLES}; a bridge that stays behind is more than 100 KiB. */
const GROWTH_BYTES = 5 * 1024 * 1024;
const SCRIPT = fileURLToPath(new URL("support/cycling.ts", import.meta.url));

test(`${CYCLES} starts and stops leave no handle and no memory behind`, async () => {
  using folder = new Folder();
  await using broker = await Mosquitto.start(folder);
  const { stdout } = await promisify(execFile)(execPath, [
    "--expose-gc",
    "--conditions=@bridge/source",
    SCRIPT,
    `mqtt://127.0.0.1:${broker.port}`,
    folder.path,
    String(CYCLES),
  ]);
  const { first, last } = JSON.parse(stdout) as Cycled;
  const growth = last.heapBytes - first.heapBytes;
  console.log(`${CYCLES} cycles: ${(growth / 1024).toFixed(0)} KiB more, handles ${JSON.stringify(last.handles)}`);
  expect(last.handles).toEqual(first.handles);
  expect(last.handles).not.toHaveProperty("TCPSocketWrap");
  expect(last.handles).not.toHaveProperty("TCPServerWrap");
  expect(growth).toBeLessThan(GROWTH_BYTES);
});
