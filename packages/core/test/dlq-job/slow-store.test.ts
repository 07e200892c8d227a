import { openMemoryDlq } from "@bridge/dlq-memory";
import { expect, test } from "vitest";
import { BoundingClock } from "../support/bounding-clock.ts";
import { begun, fill, started, stored, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

const ENTRIES = 64;
/** Where calls wait for each other, the job itself waits, too. */
const [READ_MS, WRITE_MS] = [700, 2_000];

test("a store that takes seconds for its answers is asked once for each entry, and the job is done at that pace", async () => {
  const clock = new BoundingClock();
  const dlq = openMemoryDlq({ maxEntries: 1_000, clock });
  let gets = 0;
  let isSlow = false;
  const store = seenDlq(dlq, (name) => {
    if (name === "get") gets++;
    return isSlow ? clock.delay(name === "jobs.put" ? WRITE_MS : READ_MS, new AbortController().signal) : undefined;
  });
  const bridge = await started({ clock, dlq: store });
  await fill(dlq, ENTRIES);
  const { id } = await begun(bridge);
  [isSlow, gets] = [true, 0];
  const since = clock.monotonic();
  while ((await stored(dlq)).length > 0 && clock.monotonic() - since < 60_000) await clock.advance(20);
  const tookMs = clock.monotonic() - since;
  isSlow = false;
  expect((await until(bridge, id, "completed")).counts).toMatchObject({ succeeded: ENTRIES, inDoubt: 0 });
  expect(gets).toBe(ENTRIES);
  // 16 at once, each for two calls, and until it is stored how far the job is.
  expect(tookMs).toBeLessThan((ENTRIES / 16 + 1) * (2 * READ_MS + WRITE_MS));
  await bridge.supervisor.shutdown();
});
