import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DlqStore, RESERVED } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { replayHeader } from "../../src/dlq-job/replay-id.ts";
import { Failures } from "../../src/route/failures.ts";
import { Work } from "../../src/route/work.ts";
import { entryOf } from "../dlq-job/job-bridge.ts";
import { envelopeOf } from "../support/envelope.ts";
import { bound, outage, refusal } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";

/** A route whose policy gives up each message that fails, and the store of its dead letters. */
function stage(changes: Partial<DlqStore> = {}) {
  const { bridge, parts } = partsOf({ policy: { onExpired: "dlq", onFiltered: "dlq" } });
  const [built] = parts.routes.values();
  if (built === undefined) throw new Error("the bridge has no route");
  const store: DlqStore = { ...openMemoryDlq({ maxEntries: 10 }), ...changes };
  const failures = new Failures({ ...built, dlq: () => store });
  const workOf = (id: string, replayed?: ReturnType<typeof entryOf>): Work => {
    const headers = replayed && { [RESERVED.job]: replayHeader({ jobId: "j", attempt: 1 }) };
    const envelope = envelopeOf({ id, ...(headers && { headers }) });
    const delivery = { message: envelope, settle: () => {} };
    return new Work({ delivery, envelope, origin: "injected", entry: replayed, startedAt: bridge.clock.monotonic() });
  };
  return { clock: bridge.clock, failures, store, workOf };
}

describe("a replay that fails", () => {
  test.each([
    [refusal, "dropped"],
    [new BridgeError("MESSAGE_EXPIRED", "late"), "expired"],
    [new BridgeError("MESSAGE_FILTERED", "not an alarm"), "filtered"],
  ] as const)(
    "counts as what the policy drops when its dead letter is gone, and as that when it is there: %s",
    async (error, why) => {
      const { failures, store, workOf } = stage();
      const entry = entryOf(1);
      expect(await failures.end(workOf("m1", entry), "out", error)).toMatchObject({ disposition: why, error });
      expect(await store.count(1, bound())).toBe(0);
      await store.put(entry, bound());
      expect(await failures.end(workOf("m1", entry), "out", error)).toMatchObject({
        disposition: "dead_lettered",
        error,
      });
      expect(await store.count(2, bound())).toBe(1);
    },
  );
});

test("why dead letters wait is told for as long as one does, however many have been written before and meanwhile", async () => {
  let full = false;
  const inner = openMemoryDlq({ maxEntries: 10 });
  const { clock, failures, workOf } = stage({
    put: (entry, signal) => (full ? Promise.reject(outage) : inner.put(entry, signal)),
  });
  for (const id of ["m1", "m2"]) await failures.end(workOf(id), "out", refusal);
  full = true;
  const waiting = ["m3", "m4"].map((id) => workOf(id));
  const ends = waiting.map((work) => failures.end(work, "out", refusal));
  await clock.advance(10);
  expect(failures.dlqFailure).toBe(outage);
  waiting[0]?.cancel();
  await clock.advance(10);
  full = false;
  await failures.end(workOf("m5"), "out", refusal);
  expect(failures.dlqFailure).toBe(outage);
  await clock.advance(60_000);
  expect(await Promise.all(ends)).toMatchObject([{ disposition: "abandoned" }, { disposition: "dead_lettered" }]);
  expect(failures.dlqFailure).toBeUndefined();
});
