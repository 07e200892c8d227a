import type { Dice } from "../dice.ts";
import { type JobAsk, LONG_MS, type PlannedJob } from "./planned-job.ts";

export function drawJob(dice: Dice): PlannedJob {
  const kind = dice.chance(0.75) ? "redrive" : "purge";
  return {
    kind,
    starts: dice.chance(0.8),
    ...(dice.chance(0.2) && { limit: dice.scaled(1, 100) }),
    ...(kind === "purge" && { undoWithinMs: dice.pick([0, LONG_MS, LONG_MS, dice.scaled(1_000, 600_000)]) }),
    settings: {
      rate: dice.chance(0.5) ? dice.whole(1, 5) : dice.scaled(2, 1_000),
      concurrency: dice.scaled(1, 32),
      ramp: dice.chance(0.5) ? [] : [dice.scaled(1, 5), dice.whole(6, 50)],
      rampPauseMs: dice.scaled(1, 10_000),
      halt: {
        failureRatio: dice.pick([0.1, 0.5, 1, 1]),
        minAttempts: dice.scaled(1, 50),
        consecutive: dice.pick([0, 0, dice.scaled(1, 20)]),
      },
    },
  };
}

export function drawJobAsk(dice: Dice): JobAsk {
  const kind = dice.pick<JobAsk["call"]["kind"]>([
    "start",
    "pause",
    "pause",
    "resume",
    "resume",
    "retry_failed",
    "cancel",
    "undo",
    "undo",
    "change",
  ]);
  const nth = dice.chance(0.7) ? 0 : dice.whole(1, 3);
  if (kind !== "change") return { nth, call: { kind } };
  return { nth, call: { kind, settings: { rate: dice.scaled(1, 1_000), concurrency: dice.scaled(1, 32) } } };
}
