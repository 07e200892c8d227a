import { type GenericSchema, getMetadata } from "valibot";
import { partsOf, shapeOf } from "./check/schema-shape.ts";
import type { Path } from "./problem.ts";
import type { Referred } from "./references.ts";

const WORDS: ReadonlySet<string> = new Set(["picklist", "literal", "number", "boolean"]);
const FORMATS: ReadonlySet<unknown> = new Set(["id", "duration"]);
/** Numbers, times, true and false, wherever they stand: they would turn up in any text. */
const PLAIN = /^(?:[\d.:]*|(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+|true|false)$/;

interface Typed {
  readonly path: Path;
  readonly schema: GenericSchema;
  readonly value: unknown;
}

/**
 * What came in through references and must not be seen: not what names a part, which stands in labels and paths of the
 * interface, nor numbers, times and words that a schema lists.
 */
export function veiledValues(
  referred: readonly Referred[],
  blocks: Iterable<Typed>,
  names: readonly string[],
): readonly string[] {
  if (referred.length === 0) return [];
  const plain = new Set<string>();
  for (const { schema, value, path } of blocks)
    for (const place of plainPaths(schema, value, path)) plain.add(JSON.stringify(place));
  const hidden = referred
    .filter(({ path, value }) => !plain.has(JSON.stringify(path)) && !isAddressless(value))
    .map(({ value }) => value)
    .filter((value) => !names.some((name) => name.includes(value)));
  return [...new Set(hidden)];
}

function isAddressless(value: string): boolean {
  return PLAIN.test(value) && !/^\d+\.\d+\.\d+\.\d+(?::\d+)?$/.test(value);
}

/** The places whose values are shown, wherever they come from. */
export function* plainPaths(schema: GenericSchema, value: unknown, path: Path): Generator<Path> {
  if (WORDS.has(shapeOf(schema).type) || FORMATS.has(getMetadata(schema)["format"])) yield path;
  for (const part of partsOf(schema, value)) yield* plainPaths(part.schema, part.value, [...path, ...part.path]);
}
