/** What a value is, in words, for errors about a value of the wrong kind. Never shows it, and never throws. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "bigint") return "a BigInt";
  if (typeof value !== "object") return `a ${typeof value}`;
  try {
    if (Array.isArray(value)) return "an array";
    const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
    return tag === "Object" ? "an object" : `${/^[AEIO]/i.test(tag) ? "an" : "a"} ${tag.slice(0, 50)}`;
  } catch {
    return "an object that cannot be read";
  }
}
