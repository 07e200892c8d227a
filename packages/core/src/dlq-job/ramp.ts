/** Where a job stands in its ramp. Only attempts count: what was gone or is held back says nothing of the target. */
export interface StepState {
  /** From 0. */
  readonly index: number;
  /** Attempts of this step that have ended. */
  readonly done: number;
  readonly failed: number;
}

export const FIRST_STEP: StepState = { index: 0, done: 0, failed: 0 };

/** How many attempts a step has; the last one has no end. */
function stepSize(ramp: readonly number[], index: number): number {
  return ramp[index] ?? Number.POSITIVE_INFINITY;
}

/** Whether another attempt may begin in this step, while so many are under way. */
export function mayBegin(ramp: readonly number[], { index, done }: StepState, underWay: number): boolean {
  return done + underWay < stepSize(ramp, index);
}

/** Whether all attempts of the step have ended, so that the next one comes. */
export function isSettled(ramp: readonly number[], { index, done }: StepState): boolean {
  return done >= stepSize(ramp, index);
}

export function nextStep({ index }: StepState): StepState {
  return { index: index + 1, done: 0, failed: 0 };
}

/**
 * A step as it is shown: from 1, of a size that a set of `total` entries has, and of as many steps as what is left can fill. Entries that
 * need no attempt fill none, so there may be fewer in the end.
 */
export function shownStep(
  ramp: readonly number[],
  { index, done, failed }: StepState,
  { total, remaining }: { readonly total: number; readonly remaining: number },
): {
  readonly index: number;
  readonly of: number;
  readonly size: number;
  readonly done: number;
  readonly failed: number;
} {
  const at = Math.min(index, ramp.length);
  const before = ramp.slice(0, at).reduce((sum, size) => sum + size, 0);
  const size = Math.max(0, Math.min(stepSize(ramp, at), total - before));
  let of = at + 1;
  for (let left = remaining - stepSize(ramp, at) + done; left > 0; left -= stepSize(ramp, of++));
  return { index: at + 1, of, size: Math.max(size, done), done, failed };
}
