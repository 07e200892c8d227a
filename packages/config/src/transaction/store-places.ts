import { createHash } from "node:crypto";
import type { StorePlaces, StoredConfig } from "@bridge/ports";
import { isBlock } from "../check/schema-shape.ts";
import { valueAt } from "../check/value-at.ts";
import type { StoreConfig } from "../model.ts";
import { referencesIn } from "../references.ts";
import { LEFT_ROLES, type NamedStores } from "./named-stores.ts";
import type { Stranded } from "./stranding.ts";

const DIGITS = 16;

/** Where stores are, to be noted by who runs them: as digests, since a place may have come in by a reference. */
export function placesOf(stores: NamedStores): StorePlaces {
  const known = LEFT_ROLES.flatMap((role) => {
    const place = placeOf(stores[role]);
    return place === undefined ? [] : [[role, place] as const];
  });
  return Object.fromEntries(known);
}

/** Nothing that outlasts no process, and nothing whose place is its options, in which secrets are. */
function placeOf(store: StoreConfig | undefined): string | undefined {
  if (store?.place === undefined || store.reach === "process") return undefined;
  return createHash("sha256").update(`${store.type} ${store.place}`).digest("hex").slice(0, DIGITS);
}

/** Why a document does not open the stores that it had when it ran; `undefined` when it does, or nothing was noted. */
export function whyElsewhere(
  { document, places = {} }: Pick<StoredConfig, "document" | "places">,
  now: NamedStores,
): string | undefined {
  const elsewhere = elsewhereNow(places, now);
  if (elsewhere.length === 0) return undefined;
  const named = elsewhere.map((role) => `stores.${role} ${leadsElsewhere(document, role)} than where it ran`);
  return `${named.join("; ")}: set it back, or write the place itself into the document`;
}

/** Which stores are not where they were noted to be. */
export function elsewhereNow(places: StorePlaces, now: NamedStores): readonly Stranded["store"][] {
  const here = placesOf(now);
  return LEFT_ROLES.filter((role) => places[role] !== undefined && places[role] !== here[role]);
}

/** Whether both may be of one process: what one of them does not say is where the other one has it. */
export function samePlaces(one: StorePlaces = {}, other: StorePlaces = {}): boolean {
  return LEFT_ROLES.every((role) => one[role] === undefined || other[role] === undefined || one[role] === other[role]);
}

/** What leads such a store of a document to another place, of which the reader says which. */
export function leadsElsewhere(document: StoredConfig["document"], role: Stranded["store"]): string {
  const references = referencesOf(valueAt(document, ["stores", role]));
  return references.length === 0
    ? "is another place here and now"
    : `refers to ${references.join(", ")}, which names another place here and now`;
}

function referencesOf(value: unknown): readonly string[] {
  if (typeof value === "string") return referencesIn(value).map((name) => `\${${name}}`);
  if (Array.isArray(value)) return value.flatMap(referencesOf);
  return isBlock(value) ? [...new Set(Object.values(value).flatMap(referencesOf))] : [];
}
