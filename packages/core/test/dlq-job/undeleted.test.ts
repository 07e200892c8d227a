import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { bound } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, started, stored, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

/** A job whose store deletes nothing of what it delivers, as long as `view.refuses`. */
async function undeleted() {
  const dlq = openMemoryDlq({ maxEntries: 1_000 });
  const view = { refuses: true };
  const store = seenDlq(dlq, (name) => {
    if (view.refuses && name === "admin.delete") throw new BridgeError("UNAVAILABLE", "disk gone");
  });
  const bridge = await started({ dlq: store });
  await fill(dlq, 40);
  const job = await begun(bridge, { settings: { ...AT_ONCE, concurrency: 6 } });
  await bridge.hub.channel("out").until(({ arrived }) => arrived >= 6, bound());
  await bridge.clock.advance(3_000);
  return { bridge, dlq, view, id: job.id };
}

test("finding 2: what a job has delivered is deleted before it gives itself out of hand, and counts as succeeded", async () => {
  const { dlq, view, id, bridge } = await undeleted();
  const { supervisor, hub } = bridge;
  view.refuses = false;
  await supervisor.shutdown();
  const { arrived } = hub.channel("out");
  expect(arrived).toBeGreaterThan(0);
  expect(await stored(dlq)).toHaveLength(40 - arrived);

  const next = await started({ dlq, hub });
  const done = await until(next, id, "completed");
  expect(done.counts).toMatchObject({ succeeded: 40, skipped: 0, failed: 0, inDoubt: 0 });
  expect(hub.channel("out").arrived).toBe(40);
  await next.supervisor.shutdown();
});

test("finding 2: what stays is counted as in doubt: the next process sends it again", async () => {
  const { dlq, id, bridge } = await undeleted();
  const { supervisor, hub } = bridge;
  await supervisor.shutdown();
  const { arrived } = hub.channel("out");
  expect(await stored(dlq)).toHaveLength(40);
  const next = await started({ dlq, hub });
  const done = await until(next, id, "completed");
  expect(hub.channel("out").arrived).toBe(40 + arrived);
  expect(done.counts).toMatchObject({ inDoubt: arrived, failed: 0 });
  await next.supervisor.shutdown();
});
