/** Behind these an error is only said to have a cause. */
const MAX_CAUSES = 4;
const NAME = /^[\w.-]{1,64}$/;
/** A line of a stack, which names a place in code. */
const PLACE = /^ {4}at .*(?:[\\/:].*:\d+:\d+|<anonymous>|native)\)?$/;

/**
 * What an error that nobody expected is and where it arose, for the log, without its message: any library may quote there what
 * it was given, and that may be a secret of the request.
 */
export function unquoting(thrown: unknown, causes = MAX_CAUSES): string {
  if (!(thrown instanceof Error)) return `thrown: ${thrown === null ? "null" : typeof thrown}`;
  const { name, cause, code } = thrown as Error & { readonly code?: unknown };
  const named = NAME.test(name) ? name : "Error";
  const coded = typeof code === "number" || (typeof code === "string" && NAME.test(code)) ? ` [${code}]` : "";
  const told = [named + coded, ...placesIn(thrown)];
  if (cause !== undefined) told.push(`caused by ${causes > 0 ? unquoting(cause, causes - 1) : "another"}`);
  return told.join("\n");
}

/** None when the message has been changed since: nobody can tell where the former one ends. */
function placesIn({ stack, message }: Error): readonly string[] {
  const at = typeof stack === "string" ? stack.indexOf(message) : -1;
  if (stack === undefined || at === -1) return [];
  return stack
    .slice(at + message.length)
    .split("\n")
    .filter((line) => PLACE.test(line));
}
