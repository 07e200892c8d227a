import { BridgeError, type Clock, type DlqStore, systemClock } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Admin, instead, startAdmin } from "./admin.ts";

const OPERATION_TIMEOUT_MS = 2_000;
const MS_PER_ENTRY = 1;

interface Many {
  readonly store: DlqStore;
  readonly clock: Clock;
  left(): number;
  /** The most entries that one call was asked for. */
  largest(): number;
}

/** A store that takes its time for each entry, and so has no answer in time for more than it can do in that. */
function many(entries: number, failsAfter = Infinity): Many {
  let left = entries;
  let largest = 0;
  let nowMs = 0;
  let calls = 0;
  const admin: DlqStore["admin"] = {
    delete: async () => new Set(),
    deleteWhere: async (_filter, limit = Infinity, signal) => {
      largest = Math.max(largest, limit);
      if (calls++ === failsAfter) throw new BridgeError("UNAVAILABLE", "the store is away");
      const count = Math.min(left, limit);
      if (count * MS_PER_ENTRY >= OPERATION_TIMEOUT_MS)
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
      nowMs += count * MS_PER_ENTRY;
      left -= count;
      return count;
    },
  };
  return {
    store: { admin } as unknown as DlqStore,
    clock: { ...systemClock, now: () => systemClock.now(), monotonic: () => nowMs },
    left: () => left,
    largest: () => largest,
  };
}

function start({ store, clock }: Many): Promise<Admin> {
  const seenAs = instead("dlq", () => store);
  return startAdmin({ seenAs, clock, operationTimeoutMs: OPERATION_TIMEOUT_MS });
}

describe.each([
  ["/dlq/purge", { confirm_purge_all: true }, "purged"],
  ["/dlq/delete-by-filter", { route_id: "alarms" }, "deleted"],
  ["/dlq/delete-by-filter", { confirm_delete_all: true, limit: 1_000_000 }, "deleted"],
] as const)("%s %j of more entries than fit into the operation timeout", (path, body, counted) => {
  it("answers what it has done and that there is more, and is done when it does not say so", async () => {
    const entries = many(5_500);
    await using admin = await start(entries);
    let sum = 0;
    for (let call = 0; call < 10; call++) {
      const { status, body: answer } = await admin.call("POST", path, body);
      expect(status).toBe(200);
      const told = answer as Readonly<Record<string, number | true>>;
      sum += Number(told[counted]);
      expect(5_500 - sum).toBe(entries.left());
      expect(admin.done().at(-1)?.detail).toMatchObject(told);
      if (told["has_more"] === undefined) break;
    }
    expect(entries.left()).toBe(0);
    expect(entries.largest()).toBeLessThanOrEqual(1_000);
  });

  it("says how many are gone when the store fails on the way, and how many may be", async () => {
    const entries = many(5_500, 1);
    await using admin = await start(entries);
    const answer = await admin.call("POST", path, body);
    const unsure = "up to 1000 entries may be deleted or not: look at what is left before you repeat the call";
    expect(answer).toMatchObject({
      status: 503,
      body: { error: `the store is away; ${unsure}; 1000 were deleted before that, and are gone` },
    });
    expect(admin.done().at(-1)).toMatchObject({ outcome: "failure", detail: { [counted]: 1_000, status: 503 } });
  });
});

it("spec 4.8: a limit is kept to the entry, however many batches it takes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(4_000), fc.integer({ min: 1, max: 4_000 }), async (count, limit) => {
      const entries = many(count);
      await using admin = await start(entries);
      let left = limit;
      for (let more = true; more;) {
        const { body } = await admin.call("POST", "/dlq/delete-by-filter", { route_id: "alarms", limit: left });
        const told = body as { readonly deleted: number; readonly has_more?: true };
        left -= told.deleted;
        more = told.has_more === true && left > 0;
      }
      expect(count - entries.left()).toBe(Math.min(count, limit));
    }),
    { numRuns: 15 },
  );
});
