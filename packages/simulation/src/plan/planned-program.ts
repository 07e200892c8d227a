/** What a processor does with a message in place of passing it on. */
export interface Stumble {
  readonly how: "throws" | "refuses" | "answers nothing" | "ends when it is told to" | "ends late";
  /** So often, for any instance; then it passes. Where the faults are over it passes, too, but for what it `refuses`. */
  readonly times: number;
}

/** How the functions behave that a program is told with what happens. Shares of their calls. */
export interface HookHabits {
  readonly latencyMs: number;
  readonly throws: number;
  readonly rejects: number;
  /** It ends when its signal aborts. */
  readonly hangs: number;
  /** It ends long after its signal has aborted. */
  readonly stays: number;
}
