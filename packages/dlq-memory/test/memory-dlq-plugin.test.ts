import { type DeadLetter, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import * as v from "valibot";
import { expect, test } from "vitest";
import { openMemoryDlq } from "../src/index.ts";
import { memoryDlqPlugin } from "../src/memory-dlq-plugin.ts";

const { signal } = new AbortController();

function deadLetter(id: string): DeadLetter {
  const about = { sourceId: "s", correlationId: "c", subject: "t" };
  return {
    ...about,
    id,
    routeId: "r",
    bindingId: "",
    reason: "",
    category: "rejected",
    errorCode: "REJECTED",
    lastError: "",
    failedAt: 0,
    attempts: 1,
    envelope: { ...about, id, contentType: "", headers: {}, payload: Uint8Array.of(1), receivedAt: 0 },
  };
}

test("spec 1.6: it builds only when its volatility is acknowledged", () => {
  const accepts = (options: object): boolean => v.is(memoryDlqPlugin.options, options);
  expect(accepts({ acknowledge_volatile: true })).toBe(true);
  expect(accepts({})).toBe(false);
  expect(accepts({ acknowledge_volatile: false })).toBe(false);
  expect(accepts({ acknowledge_volatile: "true" })).toBe(false);
});

test("max_entries is a positive integer, and other options are refused", () => {
  const accepts = (more: object): boolean => v.is(memoryDlqPlugin.options, { acknowledge_volatile: true, ...more });
  expect(accepts({ max_entries: 1 })).toBe(true);
  for (const max_entries of [0, -1, 1.5, "10"]) expect(accepts({ max_entries })).toBe(false);
  expect(accepts({ path: "dlq.db" })).toBe(false);
});

test("the plugin opens a store of the configured size, and a full store fails the write and evicts nothing", async () => {
  const open = memoryDlqPlugin.create(
    v.parse(memoryDlqPlugin.options, { acknowledge_volatile: true, max_entries: 2 }),
    {
      id: "dlq",
      clock: systemClock,
      random: systemRandom(),
      logger: silentLogger,
    },
  );
  await using store = await open(signal);
  await store.put(deadLetter("a"), signal);
  await store.put(deadLetter("b"), signal);
  const refused = store.put(deadLetter("c"), signal);
  await expect(refused).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(refused).rejects.toThrow(/full.*2.*redrive or delete.*max_entries/);
  await store.put(deadLetter("a"), signal);
  expect((await store.list({}, { limit: 10, offset: 0 }, signal)).map(({ id }) => id)).toEqual(["a", "b"]);
  await store.admin?.delete(["a"], signal);
  await store.put(deadLetter("c"), signal);
});

test("what a list gives out cannot be used to change the store", async () => {
  await using store = openMemoryDlq({ maxEntries: 1 });
  await store.put(deadLetter("a"), signal);
  const [head] = await store.list({}, { limit: 1, offset: 0 }, signal);
  expect(() => Object.assign(head ?? {}, { reason: "changed" })).toThrow(TypeError);
});
