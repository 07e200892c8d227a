import { expect, test } from "vitest";
import type { JobBook } from "../../src/dlq-job/job-book.ts";
import { JobHold } from "../../src/dlq-job/job-hold.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { aJob } from "./a-job.ts";

const TTL_MS = 20_000;

test("spec 4.10.6: a job is in hand for lease_ttl from when it was taken, however late the answer to that comes", async () => {
  const clock = new FakeClock();
  const takenAt = clock.monotonic();
  const held = () =>
    new JobHold({
      book: {} as JobBook,
      kept: { job: aJob(), revision: 2, isReadable: true, isDamaged: false },
      takenAt,
      holder: "plant-a/1",
      clock,
      ttlMs: () => TTL_MS,
    });
  await clock.advance(TTL_MS - 1);
  expect([held().isSure, held().mayBeAnothers, held().sureForMs]).toEqual([true, false, 1]);
  await clock.advance(1);
  expect([held().isSure, held().mayBeAnothers, held().sureForMs]).toEqual([false, true, 0]);
});
