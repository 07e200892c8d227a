/**
 * How it answers. `kept_then_…`: it keeps the message and does not say so, which is what makes a repeat. Everything but
 * `healthy` and `slow` leaves the sender in doubt.
 */
export type Behaviour =
  | "healthy"
  | "unavailable"
  | "throttled"
  | "slow"
  | "hanging"
  | "kept_then_error"
  | "kept_then_silence";

export interface TargetJob {
  readonly port: number;
  /** One id a line; before one that did not arrive as it was sent, {@link SPOILED}. */
  readonly journal: string;
  /** Whether it refuses those that are not to arrive. */
  readonly refuses: boolean;
  readonly behaviour: Behaviour;
}

export type TargetNote = "listening";

export const SPOILED = "!";
