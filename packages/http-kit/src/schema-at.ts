/** What stands where in a schema. @module */
import type * as v from "valibot";

/** Of schemas of any type. */
interface AnySchema {
  readonly wrapped?: v.GenericSchema;
  readonly item?: v.GenericSchema;
  readonly entries?: Readonly<Record<PropertyKey, v.GenericSchema>>;
}

/** That of the value which stands there; `undefined`: none has a say. */
export function schemaAt(
  schema: v.GenericSchema | undefined,
  keys: readonly PropertyKey[],
): v.GenericSchema | undefined {
  return keys.reduce<v.GenericSchema | undefined>(within, schema);
}

/** How many of these keys, from the first on, a schema names. */
export function namedKeys(schema: v.GenericSchema, keys: readonly PropertyKey[]): number {
  const nameless = keys.findIndex((_, place) => schemaAt(schema, keys.slice(0, place + 1)) === undefined);
  return nameless < 0 ? keys.length : nameless;
}

/** Where a list stands for an object: the schema library takes one without elements for an object without fields. */
export function* listsForObjects(
  schema: v.GenericSchema | undefined,
  given: unknown,
  keys: readonly PropertyKey[] = [],
): Generator<readonly PropertyKey[]> {
  if (schema === undefined || typeof given !== "object" || given === null) return;
  const { entries, item } = unwrapped(schema) as AnySchema;
  if (!Array.isArray(given)) {
    for (const [name, part] of Object.entries(entries ?? {}))
      if (Object.hasOwn(given, name))
        yield* listsForObjects(part, (given as Readonly<Record<string, unknown>>)[name], [...keys, name]);
  } else if (entries !== undefined) yield keys;
  else if (item !== undefined && hasParts(item))
    for (const [nth, part] of given.entries()) yield* listsForObjects(item, part, [...keys, nth]);
}

function hasParts(schema: v.GenericSchema): boolean {
  const { entries, item } = unwrapped(schema) as AnySchema;
  return entries !== undefined || item !== undefined;
}

/** What may be left out, as if it had to be there. */
export function wrappedBy(schema: v.GenericSchema): v.GenericSchema | undefined {
  return (schema as AnySchema).wrapped;
}

function unwrapped(schema: v.GenericSchema): v.GenericSchema {
  const inner = wrappedBy(schema);
  return inner === undefined ? schema : unwrapped(inner);
}

function within(schema: v.GenericSchema | undefined, key: PropertyKey): v.GenericSchema | undefined {
  if (schema === undefined) return undefined;
  const { item, entries = {} } = unwrapped(schema) as AnySchema;
  if (typeof key === "number") return item;
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}
