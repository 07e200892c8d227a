import fc from "fast-check";

export type Json = { readonly [key: string]: unknown };
type Path = readonly (string | number)[];

const DURATIONS = [
  "0s",
  "0.4ms",
  "1ms",
  "500ms",
  "1s",
  "1.5s",
  "30s",
  "1m30s",
  "55s",
  "56s",
  "3m",
  "19h",
  "25h",
  "30d",
  "3650d",
  "3651d",
  "87600h",
  "87601h",
  "315360001s",
  "1m30.5s",
  "-1s",
  "30",
  "1 s",
  "1S",
  "s",
  "1w",
];
const ADDRESSES = [
  "mqtt://h",
  "mqtts://h:8883",
  "MQTT://H",
  "amqp://h/v",
  "amqps://h",
  "amqp://h/a/b",
  "nats://h",
  "tls://h:1",
  "http://h",
  "https://h/p",
  "ftp://h",
  "mqtt://u:p@h",
  "mqtt://h/p",
  "mqtt://",
  "mqtt://h:99999",
  "//h",
  "h:1883",
  "127.0.0.1:80",
  ":80",
  ":99999",
  "[::1]:80",
  "[::g]:80",
  "localhost",
  "0.0.0.0:80",
  "https://*.h",
  "https://h, https://i",
  "postgres://h/d?x=1",
];
const NAMES = [
  "in",
  "out",
  "to-out",
  "broker",
  "only",
  "nowhere",
  "a b",
  "-x",
  "x.y",
  "a/b/c",
  "a/#",
  "#/a",
  "+/x",
  "a+",
  "$share/g",
  "a.b.>",
  ">.a",
  "a..b",
  "*",
  "{x}",
  "{}",
  "{x",
  "header.X",
  "$.a",
  "$",
  "x-bridge.a",
  "Host",
  "/in",
  "in/",
  "/../x",
  "(",
];
const TYPES = [
  "mqtt",
  "amqp",
  "nats",
  "http",
  "memory",
  "file",
  "postgres",
  "filter",
  "rules",
  "all",
  "static",
  "regex",
  "sqs",
];
const TEXTS = [
  "",
  " ",
  "x",
  "a\u0000b",
  "a\nb",
  "x".repeat(64),
  "x".repeat(65),
  "x".repeat(256),
  "é".repeat(200),
  "é".repeat(128),
  "\u{1F600}".repeat(8),
  "\u{1F600}".repeat(600),
  "x".repeat(1025),
  "x".repeat(70_000),
  "SU" + "A".repeat(56),
  "[REDACTED]",
];
const NUMBERS = [0, 1, -1, 0.5, 1.5, 2, 3, 4, 5, 100, 1000, 1023, 65_535, 65_536, 1e9, 2 ** 53, 2 ** 53 + 2, 1e21, -0];
const OTHERS = [null, true, false, [], {}, [null], [[]], { x: 1 }, ["x", "x"], [1]];

/** What a place may be made into, whatever was there. */
const anything: fc.Arbitrary<unknown> = fc.oneof(
  ...[DURATIONS, ADDRESSES, NAMES, TYPES, TEXTS, NUMBERS, OTHERS].map((list) => fc.constantFrom<unknown>(...list)),
);

/** What was there, written otherwise. */
function nearTo(value: unknown): readonly unknown[] {
  if (typeof value === "string")
    return [
      value.toUpperCase(),
      `${value}x`,
      `${value} `,
      ` ${value}`,
      value.slice(0, -1),
      Number(value) || 0,
      [value],
    ];
  if (typeof value === "number")
    return [value + 1, value - 1, -value, value * 1000, value + 0.5, String(value), [value]];
  if (typeof value === "boolean") return [!value, String(value), Number(value)];
  if (Array.isArray(value)) return [[], [...(value as unknown[]), value[0]], [...(value as unknown[]), null], value[0]];
  return [[value], Object.keys(value as object), { ...(value as object), stray: 1 }, {}];
}

const POOL: readonly unknown[] = [DURATIONS, ADDRESSES, NAMES, TYPES, TEXTS, NUMBERS, OTHERS].flat();

/** Each document with each place changed in each way, one at a time. */
export function* spoiledOnce(documents: readonly Json[]): Generator<Json> {
  for (const document of documents) {
    for (const place of placesIn(document)) {
      for (const value of [undefined, ...POOL, ...nearTo(valueAt(document, place))]) {
        const copy = structuredClone(document);
        put(copy, place, value);
        yield copy;
      }
    }
  }
}

/** Valid documents of which 0 to 3 places were changed, removed or added to. */
export function spoiled(documents: readonly Json[]): fc.Arbitrary<Json> {
  return fc.constantFrom(...documents).chain((document) => {
    const places = [...placesIn(document)];
    const change = fc.constantFrom(...places).chain((place) => {
      const near = nearTo(valueAt(document, place));
      return fc
        .oneof(
          { weight: 3, arbitrary: anything },
          { weight: 2, arbitrary: fc.constantFrom(...near) },
          fc.constant(undefined),
        )
        .map((value) => ({ place, value }));
    });
    const moved = fc.tuple(fc.constantFrom(...places), fc.constantFrom(...places)).map(([place, from]) => ({
      place,
      value: valueAt(document, from),
    }));
    const changes = fc.array(fc.oneof({ weight: 6, arbitrary: change }, moved), { maxLength: 3 });
    return changes.map((list) => {
      const copy = structuredClone(document);
      for (const { place, value } of list) put(copy, place, value);
      return copy;
    });
  });
}

export function* placesIn(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value))
    yield* placesIn(part, [...path, Array.isArray(value) ? Number(key) : key]);
}

export function valueAt(value: unknown, path: Path): unknown {
  let part = value;
  for (const key of path) part = (part as Json | undefined)?.[key];
  return part;
}

/** Nothing when an earlier change took the place away; `undefined` takes out what is there. */
export function put(document: Json, path: Path, value: unknown): void {
  const block = valueAt(document, path.slice(0, -1));
  const last = path.at(-1) ?? "";
  if (typeof block !== "object" || block === null) return;
  const copy: unknown = structuredClone(value);
  if (copy !== undefined) Reflect.set(block, last, copy);
  else if (Array.isArray(block)) block.splice(Number(last), 1);
  else Reflect.deleteProperty(block, last);
}
