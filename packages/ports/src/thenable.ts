/** Whether `await` would wait for it: a promise of whatever kind. Throws what a member `then` throws when it is read. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return "then" in value && typeof value.then === "function";
}

/** `value`. Should it be a promise where none belongs, its rejection is nobody's, and must not end the process. */
export function unheard<T>(value: T): T {
  if (isThenable(value)) Promise.resolve(value).catch(() => {});
  return value;
}
