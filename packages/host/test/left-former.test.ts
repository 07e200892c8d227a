import { mkdtempDisposableSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BridgeConfig, StoresOf } from "@bridge/config";
import { openConfigFile } from "@bridge/config-file";
import { silentLogger, systemClock } from "@bridge/ports";
import { allOf } from "@bridge/tooling/all-of";
import { expect, test } from "vitest";
import { leaveFormer } from "../src/former-configuration.ts";

const NEVER = new AbortController().signal;
const FORMER = "config_version: 1\nbridge: {id: a}\nstores: {outbox: {type: file, options: {path: old.db}}}\n";
const STORED = "config_version: 2\nbridge: {id: a}\n";
const storesOf: StoresOf = async () => ({ outbox: { type: "file", reach: "instance", place: "old.db", options: {} } });

test("spec 4.9.8: FILE.leaving is neither replaced nor removed as long as what it says can be kept nowhere else", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "bridge-left-former-"));
  const path = join(folder.path, "bridge.yaml");
  const leaving = `${path}.leaving`;
  const versions = `${path}.versions`;
  writeFileSync(path, STORED);
  writeFileSync(leaving, FORMER);
  writeFileSync(versions, "in the way");
  await using store = openConfigFile(path);
  const [former] = await allOf(store.departures.find(NEVER));
  const stored = await store.load(NEVER);
  if (former === undefined || stored === undefined) throw new Error("both are there");
  const runs: Partial<BridgeConfig> = { configVersion: 2, stores: {} };
  const seams = { clock: systemClock, logger: silentLogger, storesOf };
  const left = await leaveFormer({ former, why: "a variable is gone" }, runs as BridgeConfig, store, seams);
  expect(left.leftBehind).toMatchObject({ version: 1, leftStores: ["outbox"], isKept: false });

  await left.running();
  const why = /^what version 1 has left in its stores is said nowhere else: see that the folder/;
  await expect(left.departures?.remember(stored, NEVER, {})).rejects.toThrow(why);
  await expect(left.departures?.forget(NEVER)).rejects.toThrow(why);
  expect(readFileSync(leaving, "utf8")).toBe(FORMER);

  rmSync(versions);
  await left.departures?.remember(stored, NEVER, { outbox: "0123456789abcdef" });
  const first = "# sha256: [0-9a-f]{64} outbox: 0123456789abcdef";
  expect(readFileSync(leaving, "utf8")).toMatch(new RegExp(`^${first}\n${STORED}$`));
  expect(readdirSync(versions)).toEqual([expect.stringMatching(/^1\.left-outbox-[0-9a-f]{8}\.yaml$/)]);
});
