const REMEDY = 'write a map of keys to values, such as "bridge:" with what belongs to it indented below';

/** Why what a text says is no configuration; `undefined` when it may be one, as nothing may. */
export function whyNoMap(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return `the document is a list: ${REMEDY}`;
  return typeof value === "object" ? undefined : `the document is a single value: ${REMEDY}`;
}
