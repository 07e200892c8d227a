/** Why a block that {@link inherits} cannot be used. */
export const INHERITS =
  'inherits from another object, which would be left out: spread that one, or write the name "__proto__" in brackets';

/** Whether a block has names besides its own: those of `Object.create(other)`, or what `{ __proto__: part }` makes of its part. */
export function inherits(block: object): boolean {
  const from: unknown = Object.getPrototypeOf(block);
  if (typeof from !== "object" || from === null || Object.getPrototypeOf(from) === null) return false;
  // An instance of a class has its own properties, and from the class methods only.
  return !Object.hasOwn(from, "constructor");
}
