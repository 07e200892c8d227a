import type { TransportPlugin } from "@bridge/ports";
import { conditional } from "@bridge/ports/options";
import type { SchemaNode } from "./schema-node.ts";
import { definedOptions, named, typed } from "./typed-options.ts";

/** What a schema of the whole document says of receivers and senders. */
export interface LinkedOptions {
  readonly lists: Readonly<Record<"receivers" | "senders", SchemaNode>>;
  readonly definitions: Readonly<Record<string, SchemaNode>>;
  /** Of the document. */
  readonly allOf: readonly SchemaNode[];
}

/**
 * A part that names a session instead of a transport has the options of the session's transport. No schema can look it
 * up, but where all sessions are of one transport, that is it; else it is one of those that have sessions.
 */
export function linkedOptions(document: SchemaNode, transports: ReadonlyMap<string, TransportPlugin>): LinkedOptions {
  const halves = (["receiver", "sender"] as const).map((half) => partsOf(half, document, transports));
  const withSessions = [...transports].flatMap(([type, { session }]) => (session === undefined ? [] : [type]));
  const allOf = withSessions.map((type) =>
    conditional(
      { properties: { sessions: { minItems: 1, items: named("transport", type) } }, required: ["sessions"] },
      {
        properties: Object.fromEntries(
          halves.map(({ key, byType }) => [key, { items: conditional(UNNAMED, byType.get(type) ?? { not: {} }) }]),
        ),
      },
    ),
  );
  const [receivers, senders] = halves;
  return {
    lists: { receivers: receivers?.list ?? {}, senders: senders?.list ?? {} },
    definitions: { ...receivers?.definitions, ...senders?.definitions },
    allOf,
  };
}

const UNNAMED: SchemaNode = { properties: { transport: { const: "" } } };
const given = (key: string): SchemaNode => ({ required: [key], properties: { [key]: { minLength: 1 } } });

function partsOf(half: "receiver" | "sender", document: SchemaNode, transports: ReadonlyMap<string, TransportPlugin>) {
  const key = `${half}s` as const;
  const having = [...transports].flatMap(([type, plugin]) =>
    plugin[half] === undefined ? [] : [[type, plugin] as const],
  );
  const { definitions, byType: options } = definedOptions(
    half,
    having.flatMap(([type, plugin]) => (plugin[half] === undefined ? [] : [[type, plugin[half].options] as const])),
  );
  const byType = new Map(
    having.map(([type, plugin]) => [
      type,
      half === "receiver" ? traits(plugin, options.get(type) ?? {}) : (options.get(type) ?? {}),
    ]),
  );
  const node = document.properties?.[key] ?? {};
  const items = typed(node.items ?? {}, "transport", byType);
  const onSessions = having
    .filter(([, plugin]) => plugin.session !== undefined)
    .map(([type]) => byType.get(type) ?? {});
  const either = onSessions.length === 0 ? [] : [conditional(UNNAMED, { anyOf: onSessions })];
  const linked = { anyOf: [given("transport"), given("session_id")] };
  return {
    key,
    byType,
    definitions,
    list: { ...node, items: { ...items, allOf: [...(items.allOf ?? []), ...either, linked] } },
  };
}

/** What a transport asks of its receivers besides options. */
function traits({ receiver }: TransportPlugin, { required = [], properties }: SchemaNode): SchemaNode {
  const listens = receiver?.topics === "required";
  return {
    properties: { ...properties, topics: listens ? { minItems: 1 } : { maxItems: 0 } },
    required: [...required, ...(listens ? ["topics"] : [])],
    ...(receiver?.needsSession === true && { allOf: [given("session_id")] }),
  };
}
