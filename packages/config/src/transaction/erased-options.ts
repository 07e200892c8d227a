import { isBlock } from "../check/schema-shape.ts";
import { valueAt } from "../check/value-at.ts";
import type { Path } from "../problem.ts";
import { STORE_ROLES } from "../rules/stores.ts";
import { own } from "./effective.ts";

/**
 * The places of options that belong to another plugin after a change, because the type or the transport of their entry
 * changed: what they say would mean nothing any more (spec 4.9.4). Both documents have their references resolved.
 */
export function erasedOptions(before: unknown, after: unknown): readonly Path[] {
  const kept = new Map([...entriesWithOptions(after)].map((entry) => [JSON.stringify(entry.path), entry.plugin]));
  return [...entriesWithOptions(before)]
    .filter(({ path, plugin }) => kept.get(JSON.stringify(path)) !== plugin)
    .map(({ path }) => [...path, "options"]);
}

interface Entry {
  /** Elements keep their places: a merge appends at the end. */
  readonly path: Path;
  /** The type or transport of the plugin that the options are for. */
  readonly plugin: unknown;
}

const LISTS = ["sessions", "receivers", "senders", "processors"] as const;

function* entriesWithOptions(document: unknown): Generator<Entry> {
  for (const role of STORE_ROLES) {
    const store = valueAt(document, ["stores", role]);
    if (hasOptions(store)) yield { path: ["stores", role], plugin: own(store, "type") };
  }
  const transports = new Map(elementsOf(document, "sessions").map((each) => [own(each, "id"), own(each, "transport")]));
  for (const list of LISTS) {
    for (const [index, element] of elementsOf(document, list).entries()) {
      if (!hasOptions(element)) continue;
      const named = own(element, list === "processors" ? "type" : "transport");
      const inherited = transports.get(own(element, "session_id"));
      yield { path: [list, index], plugin: named === undefined || named === "" ? inherited : named };
    }
  }
}

function hasOptions(entry: unknown): boolean {
  const options = own(entry, "options");
  return isBlock(options) && Object.keys(options).length > 0;
}

function elementsOf(document: unknown, list: string): readonly unknown[] {
  const found = own(document, list);
  return Array.isArray(found) ? found : [];
}
