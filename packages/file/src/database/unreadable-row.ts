const MAX_CAUSES = 4;

/** A row has what no store writes, where the store cannot do without. */
export class UnreadableRow extends Error {
  override readonly name = "UnreadableRow";
}

/** Whether it was thrown because of such a row, or of a number that JavaScript does not have. */
export function isUnreadable(thrown: unknown, causes = MAX_CAUSES): boolean {
  if (!(thrown instanceof Error)) return false;
  if (thrown instanceof UnreadableRow || (thrown as NodeJS.ErrnoException).code === "ERR_OUT_OF_RANGE") return true;
  return causes > 0 && isUnreadable(thrown.cause, causes - 1);
}
