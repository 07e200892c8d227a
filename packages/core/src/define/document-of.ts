import { type BridgeDocument, ConfigError, createRegistry, type Path, type Registry } from "@bridge/config";
import type { SenderDefinition, SessionDefinition, ProcessorDefinition } from "@bridge/ports";
import type { BridgeDefinition, StoreDefinitions } from "./bridge-definition.ts";
import { hookProblems } from "../hooks/bridge-hooks.ts";
import { DocumentParts } from "./document-parts.ts";
import { isList, kindOf, noPart, type PartKind, plainly } from "./part-kinds.ts";
import { INHERITS, inherits } from "./own-names.ts";
import type { Places } from "./places.ts";
import { routeBlock } from "./route-block.ts";

/** A definition as a document, with the plugins of its parts. */
export interface DefinedDocument {
  /** With its secrets. */
  readonly document: BridgeDocument;
  readonly registry: Registry;
  /** Where in the definition the parts of the document stand. */
  readonly places: Places;
  /** The places of the document whose values are shown as references, besides those of secrets. */
  readonly hidden: readonly Path[];
}

/** @throws ConfigError when something in the definition is no part, or two parts cannot be told apart in a document */
export function documentOf(definition: BridgeDefinition): DefinedDocument {
  const parts = new DocumentParts();
  if (blockOf(parts, ["definition"], definition) === undefined) throw new ConfigError(parts.problems);
  const { id, bridge = {}, stores = {}, routes, sessions, senders, processors, hooks, ...sections } = definition;
  for (const [name, message] of hookProblems(hooks))
    parts.problems.push({ path: name === undefined ? ["hooks"] : ["hooks", name], message });
  for (const [name, part] of named(parts, "sessions", "session", sessions)) {
    parts.session(part as SessionDefinition, ["sessions", name], name);
  }
  for (const [name, part] of named(parts, "senders", "sender", senders)) {
    parts.sender(part as SenderDefinition, ["senders", name], name);
  }
  for (const [name, part] of named(parts, "processors", "processor", processors)) {
    parts.processor(part as ProcessorDefinition, ["processors", name], name);
  }
  const routeBlocks = Object.entries(blockOf(parts, ["routes"], routes) ?? {}).flatMap(([name, route]) =>
    listOf(blockOf(parts, ["routes", name], route)).map((block) => routeBlock(parts, name, block)),
  );
  const storeBlocks = storesOf(parts, blockOf(parts, ["stores"], stores) ?? {});
  const instance = blockOf(parts, ["bridge"], bridge);
  if (instance !== undefined && "id" in instance)
    parts.problems.push({ path: ["bridge", "id"], message: "is the id of the definition itself: leave it out here" });
  if (parts.problems.length > 0) throw new ConfigError(parts.problems);
  parts.places.set(["bridge", "id"], ["id"]);
  const { lists } = parts;
  const document = {
    ...sections,
    bridge: { ...instance, id },
    ...(Object.keys(storeBlocks).length > 0 && { stores: storeBlocks }),
    ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)),
    routes: routeBlocks,
  };
  const registry = createRegistry({
    transports: parts.transports.plugins(),
    dlqStores: listOf(stores.dlq?.plugin),
    outboxStores: listOf(stores.outbox?.plugin),
    leaseStores: listOf(stores.lease?.plugin),
    processors: [...parts.processorPlugins.values()],
  });
  return { document, registry, places: parts.places, hidden: parts.hidden };
}

/** The parts that the definition names by themselves, without those that are none. */
function named(
  parts: DocumentParts,
  key: string,
  kind: PartKind,
  block: Readonly<Record<string, unknown>> = {},
): readonly (readonly [string, unknown])[] {
  const names = new Map<unknown, string>();
  return Object.entries(blockOf(parts, [key], block) ?? {}).filter(([name, part]) => {
    const fits = kindOf(part) === kind;
    const other = names.get(part);
    if (!fits) parts.problems.push({ path: [key, name], message: noPart(part, kind) });
    else if (other !== undefined) parts.problems.push({ path: [key, name], message: twice(kind, other) });
    names.set(part, name);
    return fits && other === undefined;
  });
}

function twice(kind: PartKind, other: string): string {
  return `is the ${kind} that is called "${other}", too: name it once, or make another one`;
}

function storesOf(parts: DocumentParts, stores: StoreDefinitions): NonNullable<BridgeDocument["stores"]> {
  const blocks = Object.entries(stores).flatMap(([role, store]: [string, StoreDefinitions["dlq"]]) => {
    if (store === undefined) return [];
    const place = ["stores", role];
    if (kindOf(store) !== "store") {
      parts.problems.push({ path: place, message: noPart(store, "store") });
      return [];
    }
    parts.places.set(place, place);
    const { plugin, options, abandon_backlog } = store;
    // A name that is no role is told by the schema.
    if (plugin.role !== undefined && plugin.role !== role && Object.hasOwn(STORES, role)) {
      const message = `is a store for the role ${plugin.role}: give it one that is made for this role, such as ${STORES[role as keyof StoreDefinitions]}`;
      parts.problems.push({ path: place, message });
      return [];
    }
    const block = { type: plugin.type, options, ...(abandon_backlog !== undefined && { abandon_backlog }) };
    return [[role, block] as const];
  });
  return Object.fromEntries(blocks);
}

/** What is put into each role, for remedies. */
const STORES: { readonly [role in keyof Required<StoreDefinitions>]: string } = {
  dlq: "fileDlq",
  outbox: "fileOutbox",
  lease: "dynamodbLeases",
};

/** What a program that the compiler has not seen hands over in place of a block. */
function blockOf<Block extends object>(parts: DocumentParts, path: Path, block: Block): Block | undefined {
  const isBlock = typeof block === "object" && block !== null && !isList(block);
  if (isBlock && !inherits(block)) return block;
  parts.problems.push({ path, message: isBlock ? INHERITS : `is ${plainly(block)}: give it an object` });
  return undefined;
}

function listOf<Part>(part: Part | undefined): readonly Part[] {
  return part === undefined ? [] : [part];
}
