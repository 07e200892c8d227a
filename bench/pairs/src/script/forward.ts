import type { EndJob } from "../job.ts";

/** Hands a message to the target; `done` is told when the target has confirmed it, or that it has not taken it. */
export type Forward = (payload: Buffer, done: (taken: boolean) => void) => void;

/** Opens the target. */
export type OpenTarget = (to: EndJob, window: number) => Promise<Forward>;

/** Takes messages, at most `window` at once, and acknowledges each that the target has taken. */
export type OpenSource = (from: EndJob, window: number, forward: Forward) => Promise<void>;
