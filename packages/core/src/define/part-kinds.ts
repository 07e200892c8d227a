/** The parts that adapters make for definitions in code. */
export type PartKind = "session" | "receiver" | "sender" | "target" | "store" | "processor";

/** What a part of each kind is made with, for remedies. */
const EXAMPLES: Readonly<Record<PartKind, string>> = {
  session: 'a session, such as amqp({ url: "amqp://127.0.0.1" })',
  receiver: 'what messages are taken from, such as amqp({ url: "amqp://127.0.0.1" }).queue("orders")',
  sender: 'what sends, such as http({ url: "https://example.com" })',
  target: 'where messages go, such as http({ url: "https://example.com" }).at("/orders")',
  store: 'a store, such as fileDlq({ path: "data/dlq.db" })',
  processor: 'a processor, such as filter({ drop: { field: "subject", op: "eq", value: "test" } })',
};

/** What kind of part a value is; `undefined` for what is none, as a program that the compiler has not seen may hand over. */
export function kindOf(value: unknown): PartKind | undefined {
  if (value === null || (typeof value !== "object" && typeof value !== "function") || !Object.hasOwn(value, "kind"))
    return undefined;
  const { kind } = value as { readonly kind?: unknown };
  return typeof kind === "string" && Object.hasOwn(EXAMPLES, kind) ? (kind as PartKind) : undefined;
}

/** Why a value that is no part of these kinds cannot stand where it does. */
export function noPart(value: unknown, wanted: PartKind): string {
  const kind = kindOf(value);
  const given = kind === undefined ? `is ${plainly(value)}` : `is a ${kind}`;
  return `${given}: give it ${EXAMPLES[wanted]}`;
}

/** Whether it is an array, a map or a set, whose elements are no properties of it. */
export function isList(value: object): boolean {
  return Symbol.iterator in value;
}

/** Whether it is what parts are made with, and none itself. */
export function isTransport(value: unknown): boolean {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return false;
  const { type, plugin } = value as { readonly type?: unknown; readonly plugin?: unknown };
  return typeof type === "string" && typeof plugin === "function";
}

/** What a value is, in words. */
export function plainly(value: unknown): string {
  if (value === undefined) return "not there";
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isTransport(value)) return "a transport by itself";
  if (value instanceof Map) return "a Map";
  return typeof value === "object" ? "an object that no adapter has made" : `a ${typeof value}`;
}
