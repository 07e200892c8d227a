/**
 * What the checks need to know of a schema's structure. @module
 */
import type { GenericSchema } from "valibot";

/** The members that valibot's schemas have, depending on their type. */
interface Shape {
  readonly type: string;
  readonly entries?: Readonly<Record<string, GenericSchema>>;
  readonly item?: GenericSchema;
  readonly items?: readonly GenericSchema[];
  readonly wrapped?: GenericSchema;
  readonly options?: readonly unknown[];
  readonly literal?: unknown;
  /** The name of a variant's discriminator. */
  readonly key?: unknown;
  readonly value?: GenericSchema;
  readonly getter?: (value: unknown) => GenericSchema;
}

const UNIONS: ReadonlySet<string> = new Set(["union", "variant", "intersect"]);

export function shapeOf(schema: GenericSchema): Shape {
  return schema;
}

export function isBlock(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A schema that says something about a part of a value. */
export interface Part {
  /** Relative to the value. */
  readonly path: readonly (string | number)[];
  readonly schema: GenericSchema;
  readonly value: unknown;
}

/** One step down: the schemas of the parts of `value`, and of `value` itself where `schema` only wraps another. */
export function partsOf(schema: GenericSchema, value: unknown): readonly Part[] {
  const shape = shapeOf(schema);
  if (shape.wrapped !== undefined) return [{ path: [], schema: shape.wrapped, value }];
  if (shape.getter !== undefined) return [{ path: [], schema: shape.getter(value), value }];
  if (UNIONS.has(shape.type)) {
    return alternatives(shape, value).map((option) => ({ path: [], schema: option, value }));
  }
  if (Array.isArray(value)) {
    return value.flatMap((element: unknown, index) => {
      const item = shape.item ?? shape.items?.[index];
      return item === undefined ? [] : [{ path: [index], schema: item, value: element }];
    });
  }
  if (!isBlock(value)) return [];
  const { entries, value: recordValue } = shape;
  return Object.keys(value).flatMap((key) => {
    const entry = entries === undefined ? recordValue : Object.hasOwn(entries, key) ? entries[key] : undefined;
    return entry === undefined ? [] : [{ path: [key], schema: entry, value: value[key] }];
  });
}

/** The schemas that say what is in `value`, without those that only wrap others: of a union, the fitting options. */
export function innermost(schema: GenericSchema, value: unknown): readonly GenericSchema[] {
  const shape = shapeOf(schema);
  const wraps = shape.wrapped !== undefined || shape.getter !== undefined || UNIONS.has(shape.type);
  return wraps ? partsOf(schema, value).flatMap((part) => innermost(part.schema, value)) : [schema];
}

/** Whether a value of the JSON type of `value` is what `schema`, an {@link innermost} one, is for. */
export function fitsType(schema: GenericSchema, value: unknown): boolean {
  const { type, entries, literal, options } = shapeOf(schema);
  if (type === "unknown") return true;
  if (type === "array") return Array.isArray(value);
  if (type === "record" || entries !== undefined) return isBlock(value);
  if (type === "literal") return typeof value === typeof literal;
  if (type === "picklist") return options?.some((option) => typeof option === typeof value) === true;
  return typeof value === type;
}

/** The options of a union that `value` can have been meant for; all of them when that cannot be told. */
function alternatives(shape: Shape, value: unknown): readonly GenericSchema[] {
  const options = (shape.options ?? []) as readonly GenericSchema[];
  if (shape.type === "intersect") return options;
  const fitting = options.filter((option) => couldBe(option, value, shape.key));
  return fitting.length === 0 ? options : fitting;
}

function couldBe(schema: GenericSchema, value: unknown, discriminator: unknown): boolean {
  const { type, entries, wrapped } = shapeOf(schema);
  if (wrapped !== undefined) return couldBe(wrapped, value, discriminator);
  if (type === "array") return Array.isArray(value);
  if (entries !== undefined) {
    if (!isBlock(value)) return false;
    const tag = typeof discriminator === "string" ? entries[discriminator] : undefined;
    return tag === undefined || allows(tag, value[discriminator as string]);
  }
  if (type === "string" || type === "number" || type === "boolean") return typeof value === type;
  if (type === "literal" || type === "picklist") return typeof value !== "object" || value === null;
  return true;
}

function allows(tag: GenericSchema, value: unknown): boolean {
  const shape = shapeOf(tag);
  return shape.options === undefined ? shape.literal === value : shape.options.includes(value);
}
