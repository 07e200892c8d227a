import { mkdirSync, mkdtempDisposableSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openConfigFile } from "@bridge/config-file";
import { silentLogger } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { PATIENCE } from "@bridge/tooling/patience";
import { expect, test } from "vitest";
import { UnreadDeparture } from "../src/unread-departure.ts";

const FORMER = "config_version: 1\nbridge: {id: a}\n";
const NEVER = new AbortController().signal;
const HARMS: Readonly<Record<string, (path: string) => void>> = {
  "is empty": (path) => writeFileSync(path, ""),
  "is cut off": (path) => writeFileSync(path, "stores: {outbox: ["),
  "holds NUL bytes": (path) => writeFileSync(path, "\0\0\0\0"),
  "is a folder": (path) => mkdirSync(path),
  "is not as it was kept": (path) => writeFileSync(path, `# sha256: ${"0".repeat(64)}\n${FORMER}`),
};
const ENDS = { removed: undefined, mended: FORMER };

test.each(
  Object.keys(HARMS).flatMap((harm) => Object.keys(ENDS).map((end) => [harm, end as keyof typeof ENDS] as const)),
)("spec 4.9.5: FILE.leaving that %s is told, with the remedy, until it is %s", async (harm, end) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "bridge-unread-"));
  const path = join(folder.path, "bridge.yaml");
  writeFileSync(path, FORMER);
  HARMS[harm]?.(`${path}.leaving`);
  await using store = openConfigFile(path);
  const why: unknown = await store.departures.find(NEVER).catch((error: unknown) => error);
  const clock = new ManualClock();
  const logged: string[] = [];
  const logger = { ...silentLogger, warn: (line: string) => void logged.push(line) };
  using unread = new UnreadDeparture((why as Error).message, store.departures, { clock, logger });
  const told = /not known, and what is stored runs: .*bridge\.yaml\.leaving: .*remove this file/;
  expect(unread.told).toMatch(told);
  clock.advance(5_000);
  await store.departures.find(NEVER).catch(() => {});
  expect(unread.told).toMatch(told);
  rmSync(`${path}.leaving`, { recursive: true });
  const text = ENDS[end];
  if (text !== undefined) writeFileSync(`${path}.leaving`, text);
  await expect
    .poll(() => {
      clock.advance(5_000);
      return unread.told;
    }, PATIENCE)
    .toBeUndefined();
  expect(clock.ticking).toBe(0);
  expect(logged).toEqual(end === "mended" ? [expect.stringContaining("the next start runs it first")] : []);
});

test("nothing is told, nor looked for, when it could be read", () => {
  const clock = new ManualClock();
  using unread = new UnreadDeparture(undefined, undefined, { clock, logger: silentLogger });
  expect([unread.told, clock.ticking]).toEqual([undefined, 0]);
});
