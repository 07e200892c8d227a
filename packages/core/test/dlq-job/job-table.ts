import { ENDED_STATES, JOB_STATES, type JobCall, type JobState } from "../../src/dlq-job/job.ts";

type Row = Readonly<Record<JobState, string>>;

/** The table of the page, written down a second time: `→ state`, `202` for nothing, `409`. */
export const TABLE: Readonly<Record<Exclude<JobCall, "undo">, Row>> = {
  start: {
    ...row("409"),
    planned: "→ running",
    running: "202",
    waiting: "202",
  },
  pause: { ...row("409"), running: "→ paused", waiting: "→ paused", paused: "202", halted: "→ paused" },
  resume: { ...row("409"), running: "202", waiting: "202", paused: "→ running", halted: "→ running" },
  cancel: {
    ...row("→ cancelled"),
    ...Object.fromEntries(ENDED_STATES.map((state) => [state, "409"])),
    cancelled: "202",
    undoing: "409",
  },
  change: {
    ...row("200"),
    ...Object.fromEntries(ENDED_STATES.map((state) => [state, "409 ended"])),
    undoing: "409 ended",
  },
};

/** Of an undo, which only a purge knows. */
export const UNDO: Readonly<Record<"redrive" | "purge", Row>> = {
  redrive: row("409"),
  purge: { ...row("409"), completed: "→ undoing", cancelled: "→ undoing", undoing: "202", undone: "202" },
};

export function row(value: string): Record<JobState, string> {
  return Object.fromEntries(JOB_STATES.map((state) => [state, value])) as Record<JobState, string>;
}
