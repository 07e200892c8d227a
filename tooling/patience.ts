/**
 * For `vi.waitFor`, whose own bound is a second: ends a test that hangs, and is no verdict on how quick a machine is.
 * `expect.poll` has the same by the configuration of all tests.
 */
export const PATIENCE: { readonly timeout: number } = { timeout: 60_000 };
