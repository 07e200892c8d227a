import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DlqAdmin, type DlqStore, type LogFields, type Logger, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { attempt, type AttemptOptions } from "../../src/dlq/attempt.ts";
import { DeliveredEntries } from "../../src/dlq/delivered-entries.ts";
import { entryOf, stored } from "../dlq-job/job-bridge.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { bound } from "../support/memory-bridge.ts";

const entry = entryOf(1);

async function attempting(
  changes: Partial<Omit<AttemptOptions, "store">> & { readonly remove?: DlqAdmin["delete"] } = {},
) {
  const inner = openMemoryDlq({ maxEntries: 10 });
  await inner.put(entry, bound());
  const store: DlqStore & { readonly admin: DlqAdmin } = {
    ...inner,
    admin: { ...inner.admin, ...(changes.remove && { delete: changes.remove }) },
  };
  const told: (LogFields | undefined)[] = [];
  const logger: Logger = { ...silentLogger, error: (_, fields) => void told.push(fields) };
  const options = {
    store,
    replay: async () => ({ envelopeId: "new", outcome: "delivered", failedBindings: [] }) as const,
    delivered: new DeliveredEntries(),
    clock: new BoundingClock(),
    logger,
    signal: bound(),
    ...changes,
  };
  return { options, told };
}

test("a replay that takes 30 s is told that its time is up, and nothing is known of it", async () => {
  let told: unknown;
  const clock = new BoundingClock();
  const { options } = await attempting({
    clock,
    replay: (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject((told = signal.reason) as Error));
      }),
  });
  const attempted = attempt(options, entry);
  await clock.advance(29_999);
  expect(told).toBeUndefined();
  await clock.advance(1);
  expect(await attempted).toEqual({ kind: "unknown", late: true });
  expect(told).toEqual(new Error("the replay took too long"));
});

test("what is delivered is deleted although its caller has gone, and given up after 5 s with the reason in the log", async () => {
  const clock = new BoundingClock();
  const caller = new AbortController();
  let deleting: AbortSignal | undefined;
  const { options, told } = await attempting({
    clock,
    signal: caller.signal,
    remove: (_, signal) => {
      deleting = signal;
      caller.abort(new Error("the caller has gone"));
      return new Promise(() => {});
    },
  });
  const attempted = attempt(options, entry);
  await clock.advance(4_999);
  expect(deleting?.aborted).toBe(false);
  await clock.advance(1);
  expect(await attempted).toEqual({ kind: "not_deleted" });
  expect(told).toEqual([{ count: 1, entry_id: "e00001", error: "the DLQ store did not answer" }]);
  expect(options.delivered.has(entry)).toBe(true);
});

test("what was delivered before and is deleted now is remembered no more", async () => {
  const { options } = await attempting();
  options.delivered.add(entry);
  expect(await attempt(options, entry)).toEqual({ kind: "delivered" });
  expect([options.delivered.size, await stored(options.store)]).toEqual([0, []]);
});

test("what was delivered before and somebody else has deleted is gone, and remembered no more", async () => {
  const { options, told } = await attempting();
  options.delivered.add(entry);
  await options.store.admin.delete([entry.id], bound());
  expect(await attempt(options, entry)).toEqual({ kind: "gone" });
  expect([options.delivered.size, told]).toEqual([0, []]);
});

test("a replay that throws is a failure with its code", async () => {
  const { options } = await attempting({ replay: () => Promise.reject(new BridgeError("UNAVAILABLE", "no room")) });
  expect(await attempt(options, entry)).toMatchObject({ kind: "failed", error: { code: "UNAVAILABLE" } });
  expect(await stored(options.store)).toEqual([entry.id]);
});
