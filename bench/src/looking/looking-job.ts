export const ROUTE = "route";
export const KEY = "bench-admin-key-0123456789";
/** Messages a second, as many as are settled without anybody looking. */
export const RATE = 10_000;
export const SIZE = 256;

/** Where the route sends to: nowhere, which settles at once, or a web service at this port. */
export interface LookingJob {
  readonly target: number | undefined;
}

/** How many look on, and where. */
export interface Onlookers {
  readonly url: string;
  readonly count: number;
}
