import { existsSync, mkdirSync, mkdtempDisposableSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BridgeConfig, placesOf, type StoreConfig } from "@bridge/config";
import { openConfigFile } from "@bridge/config-file";
import { silentLogger } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { allOf } from "@bridge/tooling/all-of";
import { PATIENCE } from "@bridge/tooling/patience";
import { expect, test } from "vitest";
import { departureNoticeOf } from "../src/departure-notice.ts";

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
  const why: unknown = await allOf(store.departures.find(NEVER)).catch((error: unknown) => error);
  const clock = new ManualClock();
  const logged: string[] = [];
  const logger = { ...silentLogger, warn: (line: string) => void logged.push(line) };
  const found = { unread: (why as Error).message };
  using unread = departureNoticeOf(found, store, () => ({ stores: {} }), { clock, logger });
  const told = /not known, and what is stored runs: .*bridge\.yaml\.leaving: .*remove this file/;
  expect(unread?.told).toMatch(told);
  clock.advance(5_000);
  await allOf(store.departures.find(NEVER)).catch(() => {});
  expect(unread?.told).toMatch(told);
  rmSync(`${path}.leaving`, { recursive: true });
  const text = ENDS[end];
  if (text !== undefined) writeFileSync(`${path}.leaving`, text);
  await expect
    .poll(() => {
      clock.advance(5_000);
      return unread?.told;
    }, PATIENCE)
    .toBeUndefined();
  expect(clock.ticking).toBe(0);
  expect(logged).toEqual(end === "mended" ? [expect.stringContaining("the next start runs it first")] : []);
});

/** A former document that ran with its outbox at this place; what starts has another one there. */
async function leftAt(outbox: string) {
  const folder = mkdtempDisposableSync(join(tmpdir(), "bridge-elsewhere-"));
  const path = join(folder.path, "bridge.yaml");
  writeFileSync(path, FORMER);
  const store = openConfigFile(path);
  const stored = await store.load(NEVER);
  if (stored === undefined) throw new Error("it was written");
  await store.departures.remember(stored, NEVER, { outbox });
  const [former] = await allOf(store.departures.find(NEVER));
  if (former === undefined) throw new Error("it was remembered");
  return { path, store, former, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

const OUTBOX: StoreConfig = { type: "file", reach: "instance", place: "a.db", options: {} };

test("spec 4.9.5: what was being left elsewhere is told, with the remedies, unless what runs is there, until it is removed", async () => {
  using here = await leftAt(placesOf({ outbox: OUTBOX }).outbox ?? "");
  const { path, former, store } = here;
  const clock = new ManualClock();
  let runs: { readonly stores: BridgeConfig["stores"] } = { stores: {} };
  const found = { former, why: "stores.outbox is another place", elsewhere: true } as const;
  using notice = departureNoticeOf(found, store, () => runs, { clock, logger: silentLogger });
  const told = /^messages may wait in stores of version 1, .*: stores\.outbox is another place, and restart; .* remove/;
  const looked = () => {
    clock.advance(5_000);
    return notice?.told;
  };
  expect(notice?.told).toMatch(told);
  runs = { stores: { outbox: OUTBOX } };
  await expect.poll(looked, PATIENCE).toBeUndefined();
  runs = { stores: {} };
  await expect.poll(looked, PATIENCE).toMatch(told);
  expect(existsSync(`${path}.leaving`)).toBe(true);
  await store.departures.forget(NEVER);
  await expect.poll(looked, PATIENCE).toBeUndefined();
  expect(clock.ticking).toBe(0);
});

test("nothing is told of a start that has found nothing, or what it runs", async () => {
  using here = await leftAt("0123456789abcdef");
  const { former, store } = here;
  for (const found of [undefined, { former, why: "a secret is gone" }]) {
    const seams = { clock: new ManualClock(), logger: silentLogger };
    expect(departureNoticeOf(found, store, () => ({ stores: {} }), seams)).toBeUndefined();
  }
});
