/** Where something was thrown, if that can be read. Never throws. */
export function stackOf(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error && typeof thrown.stack === "string" ? thrown.stack : undefined;
  } catch {
    return undefined;
  }
}
