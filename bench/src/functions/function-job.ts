/** What hands messages on, between a source on demand and nothing. */
export type Target = "memory" | "handler" | "handler with a signal";

/** What a program without a network is told. */
export interface FunctionJob {
  readonly target: Target;
  /** The most messages held unacknowledged at once. */
  readonly window: number;
  readonly size: number;
}

/** What a program that writes to PostgreSQL is told. */
export interface InsertJob {
  readonly url: string;
  /** Messages of one statement. */
  readonly batch: number;
  readonly window: number;
  readonly size: number;
}

export function jobGiven(): unknown {
  return JSON.parse(process.argv[2] ?? "");
}
