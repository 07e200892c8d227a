/** Whether it is a promise, of whatever kind. Throws what a member `then` throws when it is read. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return "then" in value && typeof value.then === "function";
}
