import { suggestion } from "@bridge/ports/internal";
import type { Steps } from "@bridge/ports/internal";
import type { GenericSchema } from "valibot";
import { fitsType, isBlock, shapeOf } from "../check/schema-shape.ts";
import type { Path, Problem } from "../problem.ts";
import { holdsReference } from "../references.ts";
import { REDACTED } from "../redacted.ts";
import { isPluginOptions } from "../schema/plugin-options.ts";

/** After so many nothing more is looked at: an overlay of 1 MB has room for a hundred thousand. */
const MAX_FAULTS = 100;

/** What an overlay has that no configuration has: unknown fields, values of a wrong type, null (spec 4.9.1). */
export function* overlayFaults(schema: GenericSchema, overlay: unknown): Steps<readonly Problem[]> {
  const found: Problem[] = [];
  for (const problem of faults(variantsOf(schema), overlay, [])) {
    if (problem !== undefined) found.push(problem);
    if (found.length === MAX_FAULTS) break;
    yield;
  }
  return found;
}

/** Tells `undefined` after each element of a list. */
type Faults = Generator<Problem | undefined>;

/** `variants` are the schemas that the value may be of. */
function* faults(variants: readonly GenericSchema[], value: unknown, path: Path): Faults {
  // Keeps whatever is there.
  if (value === REDACTED) return;
  // The value that it stands for is checked when it is read.
  if (typeof value === "string" && holdsReference(value) && variants.some(isScalar)) return;
  const fitting = variants.filter((variant) => fitsType(variant, value));
  if (fitting.length === 0) {
    yield { path, message: value === null ? NULL : `expected ${expected(variants)} (got ${kindOf(value)})` };
  } else if (Array.isArray(value)) {
    const items = fitting.flatMap((list) => shapeOf(list).item ?? []).flatMap(variantsOf);
    const named = new Set<unknown>();
    for (const [index, element] of (value as readonly unknown[]).entries())
      yield* elementFaults(items, element, [...path, index], named);
  } else if (isBlock(value)) {
    for (const [key, part] of Object.entries(value)) yield* fieldFaults(fitting, key, part, path);
  }
}

function isScalar(schema: GenericSchema): boolean {
  return ["number", "boolean", "picklist", "literal", "string"].includes(shapeOf(schema).type);
}

const NULL = "must not be null: leave the field out to keep its value";
/** Keys that mean something to the language; no field and no header value needs them. */
const UNUSABLE: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);

function* fieldFaults(blocks: readonly GenericSchema[], key: string, value: unknown, path: Path): Faults {
  const place = [...path, key];
  if (UNUSABLE.has(key)) {
    yield { path: place, message: "unknown field" };
    return;
  }
  const fields = fieldsOf(blocks, key);
  if (fields.some(isPluginOptions)) {
    yield { path: place, message: "unknown field: plugin options change in the document itself, not through a PATCH" };
  } else if (fields.length > 0) {
    yield* faults(fields.flatMap(variantsOf), value, place);
  } else {
    const known = blocks.flatMap((block) => Object.keys(shapeOf(block).entries ?? {}));
    yield { path: place, message: `unknown field${suggestion(key, known)}` };
  }
}

/** Elements of a list that are known by their ids have to name one. */
function* elementFaults(items: readonly GenericSchema[], element: unknown, path: Path, named: Set<unknown>): Faults {
  yield* faults(items, element, path);
  yield;
  if (!items.some(isKnownById) || !isBlock(element)) return;
  const id = Object.hasOwn(element, "id") ? element["id"] : undefined;
  if (id === undefined || id === "")
    yield { path: [...path, "id"], message: "is required: it says which element is meant" };
  else if (named.has(id)) yield { path: [...path, "id"], message: "stands twice: say all of an element in one place" };
  else if (id !== REDACTED) named.add(id);
}

/** Whether the elements of a list are told apart by their `id`. */
export function isKnownById(item: GenericSchema): boolean {
  return Object.hasOwn(shapeOf(item).entries ?? {}, "id");
}

/** What a field can hold of a block that is one of `blocks`. */
export function fieldsOf(blocks: readonly GenericSchema[], key: string): readonly GenericSchema[] {
  return blocks.flatMap((block) => {
    const { entries, value } = shapeOf(block);
    if (entries === undefined) return value ?? [];
    return Object.hasOwn(entries, key) ? (entries[key] ?? []) : [];
  });
}

/** Every schema that a value at this place may be of, whatever stands beside it: an overlay need not say. */
export function variantsOf(schema: GenericSchema): readonly GenericSchema[] {
  const { wrapped, type, options = [] } = shapeOf(schema);
  if (wrapped !== undefined) return variantsOf(wrapped);
  if (type === "union" || type === "variant") return (options as readonly GenericSchema[]).flatMap(variantsOf);
  return [schema];
}

function expected(variants: readonly GenericSchema[]): string {
  const kinds = variants.map((variant) => {
    const { type, entries, literal, options } = shapeOf(variant);
    if (type === "array") return "a list";
    if (type === "record" || entries !== undefined) return "an object";
    if (type === "literal") return nameOf(typeof literal);
    if (type === "picklist") return nameOf(typeof options?.[0]);
    return nameOf(type);
  });
  return [...new Set(kinds)].join(" or ");
}

function nameOf(type: string): string {
  return type === "boolean" ? "true or false" : `a ${type}`;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : nameOf(typeof value);
}
