import type { JobKind, JobSettings, SettingsChange } from "@bridge/core";

/** A purge that can be undone for so long can be undone whatever the clocks of a run show. */
export const LONG_MS = 48 * 3_600_000;

/** A job of the DLQ as an operator asks for it: of all dead letters that there are. */
export interface PlannedJob {
  readonly kind: JobKind;
  /** Whether it is started as soon as it is planned. */
  readonly starts: boolean;
  readonly limit?: number;
  readonly undoWithinMs?: number;
  readonly settings: JobSettings;
}

/** What an operator asks of a job. */
export interface JobAsk {
  /** The last one that was planned is 0. */
  readonly nth: number;
  readonly call:
    | { readonly kind: "start" | "pause" | "resume" | "retry_failed" | "cancel" | "undo" }
    | { readonly kind: "change"; readonly settings: SettingsChange };
}
