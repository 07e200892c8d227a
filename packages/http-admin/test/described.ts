/** As much of JSON Schema as the server's own document has of requests. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly contentEncoding?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** The OpenAPI document, as far as it tells what may be sent. */
export interface Described {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[];
}

/** A part of a body: its name in errors, its schema, and a body that has nothing but that part with this value. */
export type Part = readonly [name: string, schema: Schema, bodyOf: (value: unknown) => unknown];

export function* partsOf(schema: Schema, described: Described): Generator<Part> {
  for (const [name, part, bodyOf] of within(schema, described, []))
    if (name !== "") yield [name.replace(/^\./, ""), part, bodyOf];
}

function* within(schema: Schema, described: Described, seen: readonly string[]): Generator<Part> {
  const { $ref, anyOf = [], properties = {}, items, additionalProperties: any } = schema;
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1) ?? "";
    if (!seen.includes(name)) yield* within(described.components.schemas[name] ?? {}, described, [...seen, name]);
    return;
  }
  yield ["", schema, (value) => value];
  for (const one of anyOf) yield* within(one, described, seen);
  for (const [key, part] of Object.entries(properties))
    for (const [name, inner, bodyOf] of within(part, described, seen))
      yield [`.${key}${name}`, inner, (value) => ({ [key]: bodyOf(value) })];
  if (items !== undefined)
    for (const [name, inner, bodyOf] of within(items, described, seen))
      yield [`[0]${name}`, inner, (value) => [bodyOf(value)]];
  if (typeof any === "object")
    for (const [name, inner, bodyOf] of within(any, described, seen))
      yield [`.any${name}`, inner, (value) => ({ any: bodyOf(value) })];
}
