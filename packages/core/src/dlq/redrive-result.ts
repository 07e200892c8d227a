/** Spec 2.11. `redriven + failed` is the number of distinct ids asked for. */
export interface RedriveResult {
  readonly redriven: number;
  readonly failed: number;
  readonly errors: readonly RedriveFailure[];
  readonly warning?: string;
}

export interface RedriveFailure {
  readonly id: string;
  readonly error: string;
}
