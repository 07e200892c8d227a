import { isDeepStrictEqual } from "node:util";
import type { ConfigHistoryChange } from "@bridge/ports";
import type { Steps } from "@bridge/ports/internal";
import { type GenericSchema, getDefault } from "valibot";
import { isBlock, shapeOf } from "../check/schema-shape.ts";
import { formatPath } from "../problem.ts";
import { REDACTED } from "../redacted.ts";
import { documentSchema } from "../schema/document.ts";
import { isPluginOptions } from "../schema/plugin-options.ts";
import { effective, own, schemaFor } from "./effective.ts";
import { isKnownById } from "./overlay-faults.ts";
import { redacted } from "./redacted-view.ts";

/** More than these are counted, not told. */
const MAX_CHANGES = 1000;

/** What differs in force between two documents as people wrote them, redacted. The version is not compared. */
export function* changesBetween(before: unknown, after: unknown): Steps<readonly ConfigHistoryChange[]> {
  const found: ConfigHistoryChange[] = [];
  for (const [key, schema] of Object.entries<GenericSchema>(documentSchema.entries)) {
    if (key === "config_version") continue;
    for (const change of sectionChanges({ schema, before: own(before, key), after: own(after, key), path: key })) {
      if (change !== undefined) found.push(change);
      yield;
    }
  }
  if (found.length <= MAX_CHANGES) return found;
  return [...found.slice(0, MAX_CHANGES), { path: `and ${found.length - MAX_CHANGES} more` }];
}

/** Tells `undefined` after an element of a list. */
type Changes = Generator<ConfigHistoryChange | undefined>;

function* sectionChanges({ schema, before, after, path }: Pair): Changes {
  const [from, to] = [before ?? getDefault(schema), after ?? getDefault(schema)];
  const { item } = shapeOf(schemaFor(schema, to) ?? schema);
  if (Array.isArray(from) && Array.isArray(to) && item !== undefined && isKnownById(item))
    yield* elementChanges({ schema: item, before: from as unknown[], after: to as unknown[], path });
  else yield* changes({ schema, before: effective(schema, from), after: effective(schema, to), path });
}

interface Pair {
  readonly schema: GenericSchema;
  readonly before: unknown;
  readonly after: unknown;
  readonly path: string;
}

function* changes({ schema, before, after, path }: Pair): Changes {
  if (isDeepStrictEqual(before, after)) return;
  const inner = schemaFor(schema, after);
  const { item, entries, value: record } = shapeOf(inner ?? schema);
  if (isBlock(before) && isBlock(after) && !isPluginOptions(schema)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const field = entries === undefined ? record : entries[key];
      if (field !== undefined)
        yield* changes({ schema: field, before: own(before, key), after: own(after, key), path: join(path, key) });
    }
  } else if (Array.isArray(before) && Array.isArray(after) && item !== undefined && isKnownById(item)) {
    yield* elementChanges({ schema: item, before, after, path });
  } else {
    const show = (value: unknown): unknown => (isPluginOptions(schema) ? REDACTED : redacted(schema, value));
    yield {
      path,
      ...(before !== undefined && { before: show(before) }),
      ...(after !== undefined && { after: show(after) }),
    };
  }
}

/** Of lists whose elements have ids, with their defaults or without; `schema` is that of an element. */
function* elementChanges({
  schema,
  before,
  after,
  path,
}: Pair & { readonly before: readonly unknown[]; readonly after: readonly unknown[] }): Changes {
  const formerly = new Map(before.map((element) => [own(element, "id"), element]));
  const place = (element: unknown, index: number): string =>
    `${path}[${nameOf(schema, effective(schema, element), index)}]`;
  for (const [index, element] of after.entries()) {
    const former = formerly.get(own(element, "id"));
    formerly.delete(own(element, "id"));
    if (!isDeepStrictEqual(former, element))
      yield* changes({
        schema,
        before: former === undefined ? undefined : effective(schema, former),
        after: effective(schema, element),
        path: place(element, index),
      });
    yield;
  }
  for (const [index, element] of before.entries()) {
    if (formerly.has(own(element, "id")))
      yield* changes({
        schema,
        before: effective(schema, element),
        after: undefined,
        path: place(element, index),
      });
    yield;
  }
}

/** The id of an element where it may be shown and is one, else its place. */
function nameOf(schema: GenericSchema, element: unknown, index: number): string {
  const id = own(redacted(schema, element), "id");
  return typeof id === "string" && /^[\w.-]{1,64}$/.test(id) ? id : String(index);
}

function join(path: string, key: string): string {
  const step = formatPath([key]);
  return path === "" || step.startsWith("[") ? `${path}${step}` : `${path}.${step}`;
}
