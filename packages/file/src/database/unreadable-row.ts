const MAX_CAUSES = 4;

/** A row has what no store writes, where the store cannot do without. */
export class UnreadableRow extends Error {}

/** That it was thrown because of such a row, or of a number that JavaScript does not have. */
export function unreadableIn(thrown: unknown, causes = MAX_CAUSES): UnreadableRow | undefined {
  if (!(thrown instanceof Error)) return undefined;
  if (thrown instanceof UnreadableRow) return thrown;
  const { code } = thrown as NodeJS.ErrnoException;
  if (code === "ERR_OUT_OF_RANGE") return new UnreadableRow(thrown.message, { cause: thrown });
  return causes > 0 ? unreadableIn(thrown.cause, causes - 1) : undefined;
}
