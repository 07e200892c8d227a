export const ROUTE = "route";
export const KEY = "bench-admin-key-0123456789";
/** Messages a second, as many as are settled without anybody looking. */
export const RATE = 10_000;
export const SIZE = 256;
