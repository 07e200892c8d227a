import type { Steps } from "@bridge/ports/internal";
import type { GenericSchema } from "valibot";
import type { Path, Problem } from "../problem.ts";
import { documentSchema } from "../schema/document.ts";
import { type Checked, checkValue } from "./check-value.ts";
import { type HiddenValues, secretPaths } from "./hidden-values.ts";
import { isBlock, shapeOf } from "./schema-shape.ts";

/** A piece of a document that can be looked at by itself. */
export interface Piece {
  readonly path: Path;
  readonly schema: GenericSchema;
  readonly value: unknown;
}

const LISTS: ReadonlyMap<string, GenericSchema> = new Map(
  Object.entries<GenericSchema>(documentSchema.entries).flatMap(([key, schema]) => {
    const { item } = shapeOf(shapeOf(schema).wrapped ?? schema);
    return item === undefined ? [] : [[key, item] as const];
  }),
);

/** The document with its lists empty, then each of their elements: a document grows by its lists. */
export function* piecesOf(document: unknown): Generator<Piece> {
  if (!isBlock(document)) return yield { path: [], schema: documentSchema, value: document };
  const entries = Object.entries(document);
  const rest = entries.map((entry) => (isList(entry) ? ([entry[0], []] as const) : entry));
  yield { path: [], schema: documentSchema, value: Object.fromEntries(rest) };
  for (const [key, list] of entries.filter(isList)) {
    const schema = LISTS.get(key) ?? documentSchema;
    for (const [index, value] of (list as readonly unknown[]).entries()) yield { path: [key, index], schema, value };
  }
}

function isList([key, part]: readonly [string, unknown]): boolean {
  return LISTS.has(key) && Array.isArray(part);
}

/** Hides what the document's schema calls secret. */
export function* hideSecrets(document: unknown, hidden: HiddenValues): Steps<void> {
  for (const { path, schema, value } of piecesOf(document)) {
    hidden.hide(secretPaths(schema, value, path));
    yield;
  }
}

/** Holds a document against its schema, and tells everything that is wrong. */
export function* checkPieces(document: unknown, hidden: HiddenValues): Steps<Checked> {
  let output: unknown;
  const unsound: Path[] = [];
  const problems: Problem[] = [];
  for (const { path, schema, value } of piecesOf(document)) {
    const checked = checkValue(schema, value, path, hidden);
    const [list, index] = path;
    const elements = list === undefined ? undefined : (output as Readonly<Record<string, unknown[]>>)[list];
    if (elements === undefined) output = checked.output;
    else elements[Number(index)] = checked.output;
    for (const place of checked.unsound) unsound.push([...path, ...place]);
    // Not all at once: a document may have more of them than a call takes arguments.
    for (const problem of checked.problems) problems.push(problem);
    yield;
  }
  return { output, unsound, problems };
}
