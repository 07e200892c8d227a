import { randomUUID } from "node:crypto";
import { type LeaseStore, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import * as v from "valibot";
import { expect, test } from "vitest";
import { memoryLeasePlugin } from "../../src/lease/memory-lease-plugin.ts";
import { openMemoryLeases } from "../../src/lease/open-memory-leases.ts";

const { signal } = new AbortController();
const RECORD = { holder: "a", token: 1, beat: 1, ttlMs: 1_000 };

function open(more: object): Promise<LeaseStore> {
  const options = v.parse(memoryLeasePlugin.options, { acknowledge_volatile: true, ...more });
  const context = { id: "lease", clock: systemClock, random: systemRandom(), logger: silentLogger };
  return memoryLeasePlugin.create(options, context)(signal);
}

test("spec 1.6: it builds only when its volatility is acknowledged, and reaches no further than the process", () => {
  const accepts = (options: object): boolean => v.is(memoryLeasePlugin.options, options);
  expect(accepts({ acknowledge_volatile: true })).toBe(true);
  expect(accepts({})).toBe(false);
  expect(accepts({ acknowledge_volatile: false })).toBe(false);
  expect(memoryLeasePlugin.reach).toBe("process");
});

test("a name is text, and other options are refused", () => {
  const accepts = (more: object): boolean => v.is(memoryLeasePlugin.options, { acknowledge_volatile: true, ...more });
  expect(accepts({ name: "plant" })).toBe(true);
  for (const name of ["", 7]) expect(accepts({ name })).toBe(false);
  expect(accepts({ table_name: "plant" })).toBe(false);
});

test("bridges of one process share the leases of a name, and have one name if they give none", async () => {
  await using one = await open({});
  await using other = await open({});
  await using apart = await open({ name: randomUUID() });
  expect(await one.replace("key", undefined, RECORD, signal)).toBe(true);
  expect(await other.read("key", signal)).toEqual(RECORD);
  expect(await apart.read("key", signal)).toBeUndefined();
});

test("a name is forgotten with the last store that has it open, and not before", async () => {
  const name = randomUUID();
  const one = openMemoryLeases({ name });
  const other = openMemoryLeases({ name });
  await one.replace("key", undefined, RECORD, signal);
  await one[Symbol.asyncDispose]();
  await one[Symbol.asyncDispose]();
  expect(await other.read("key", signal)).toEqual(RECORD);
  await other[Symbol.asyncDispose]();
  await using fresh = openMemoryLeases({ name });
  expect(await fresh.read("key", signal)).toBeUndefined();
});
