import { isScalar } from "yaml";

/**
 * For each new element the index of the old one that it is: of its id, else of its value, else the one in its place.
 */
export function counterparts(before: readonly unknown[], after: readonly unknown[]): readonly (number | undefined)[] {
  const free = new Map<string, number[]>();
  for (const [index, element] of before.entries()) {
    const name = identity(element);
    const indices = free.get(name);
    if (indices === undefined) free.set(name, [index]);
    else indices.push(index);
  }
  const same = after.map((element) => free.get(identity(element))?.shift());
  const taken = new Set(same);
  return same.map(
    (index, i) => index ?? (taken.has(i) || i >= before.length || hasId(after[i]) || hasId(before[i]) ? undefined : i),
  );
}

function identity(element: unknown): string {
  return hasId(element) ? `id ${element.id}` : `value ${JSON.stringify(element)}`;
}

function hasId(element: unknown): element is { readonly id: string } {
  return isRecord(element) && typeof element["id"] === "string";
}

/** The name of a key in a tree. */
export function nameOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : "";
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
