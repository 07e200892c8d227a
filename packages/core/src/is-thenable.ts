/** Whether it is a promise, of whatever kind, and not something that somebody else's code has just returned. */
export function isThenable(value: unknown): value is PromiseLike<void> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** `value`. Should it be a promise where none belongs, its rejection is nobody's, and must not end the process. */
export function unheard<T>(value: T): T {
  if (isThenable(value)) Promise.resolve(value).catch(() => {});
  return value;
}
