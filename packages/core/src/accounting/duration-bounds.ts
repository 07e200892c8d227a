/** For one answer of a target: from a broker on the same machine to a `send_timeout` of a minute. Milliseconds. */
export const SEND_BOUNDS_MS: readonly number[] = [
  0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
];

const [MINUTE, HOUR] = [60_000, 3_600_000];

/** For a message's stay in the bridge, which an outage of its target makes as long as the outage. Milliseconds. */
export const STAY_BOUNDS_MS: readonly number[] = [
  ...SEND_BOUNDS_MS,
  5 * MINUTE,
  15 * MINUTE,
  HOUR,
  6 * HOUR,
  24 * HOUR,
];
