/** Bounds for one answer of a target, in milliseconds: from a local broker to a `send_timeout` of a minute. */
export const SEND_BOUNDS_MS: readonly number[] = [
  0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
];

const [MINUTE, HOUR] = [60_000, 3_600_000];

/** Bounds for a message's stay in the bridge, in milliseconds: it can be as long as an outage of the target. */
export const STAY_BOUNDS_MS: readonly number[] = [
  ...SEND_BOUNDS_MS,
  5 * MINUTE,
  15 * MINUTE,
  HOUR,
  6 * HOUR,
  24 * HOUR,
];
