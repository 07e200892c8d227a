import type { Clock } from "@bridge/ports";

/** The document of a job is written so often: it is the sign of life of its owner, too. */
export const BEAT_MS = 1_000;

/** What is done in each beat, in this order. */
export interface Beat {
  begin(): void;
  /** What takes long keeps the sign of life from nobody: it goes on beside the next beats, once at a time, and so does `save`. */
  work(): Promise<void> | undefined;
  save(): Promise<void>;
  end(): void;
}

/** Beats once a second until `signal` aborts; resolves when all that was begun has ended. */
export async function beatUntil(signal: AbortSignal, clock: Clock, beat: Beat): Promise<void> {
  let working: Promise<void> | undefined;
  let saving: Promise<void> | undefined;
  for (;;) {
    await clock.delay(BEAT_MS, signal).catch(() => {});
    if (signal.aborted) break;
    beat.begin();
    working ??= beat.work()?.finally(() => (working = undefined));
    saving ??= beat.save().finally(() => (saving = undefined));
    beat.end();
  }
  await Promise.all([working, saving]);
}
