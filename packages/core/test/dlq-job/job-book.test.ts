import { openMemoryDlq } from "@bridge/dlq-memory";
import type { DlqJobs } from "@bridge/ports";
import { expect, test } from "vitest";
import { JobBook } from "../../src/dlq-job/job-book.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { aJob } from "./a-job.ts";
import { rewrite } from "./job-bridge.ts";

/** A store that takes `ms` to read a job, which its owner has written again by then. */
function contended(ms: number) {
  const clock = new FakeClock();
  const { jobs } = openMemoryDlq({ maxEntries: 10, clock });
  let reads = 0;
  const busy: DlqJobs = {
    ...jobs,
    async get(id, signal) {
      const read = await jobs.get(id, signal);
      reads++;
      await clock.delay(ms, signal);
      if (read !== undefined) await rewrite(jobs, id, () => ({}));
      return read;
    },
  };
  const book = new JobBook(busy, clock);
  const change = async (): Promise<unknown> => {
    const job = aJob();
    await book.add(job, bound());
    let told: unknown;
    book.change(job.id, (is) => ({ ...is, reason: "another" }), bound()).catch((error: unknown) => (told = error));
    await clock.until(() => told !== undefined);
    return told;
  };
  return { change, reads: () => reads };
}

test("a job that others write between each reading and each write is not waited for without end", async () => {
  const { change, reads } = contended(1);
  expect(await change()).toMatchObject({ kind: "conflict", message: expect.stringContaining("try again") as unknown });
  expect(reads()).toBe(20);
});

test("nor for longer than ten seconds in a store that is slow: whoever works on the job can be asked", async () => {
  const { change, reads } = contended(1_500);
  expect(await change()).toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("the instance that works on it") as unknown,
  });
  expect(reads()).toBe(7);
});
