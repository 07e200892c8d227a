import { createHash } from "node:crypto";
import type { StorePlaces, StoredConfig } from "@bridge/ports";
import { isBlock } from "../check/schema-shape.ts";
import { valueAt } from "../check/value-at.ts";
import type { StoreConfig } from "../model.ts";
import { referencesIn } from "../references.ts";
import { LEFT_ROLES, type NamedStores } from "./named-stores.ts";

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
  const here = placesOf(now);
  const elsewhere = LEFT_ROLES.filter((role) => places[role] !== undefined && places[role] !== here[role]);
  if (elsewhere.length === 0) return undefined;
  const named = elsewhere.map((role) => {
    const references = referencesOf(valueAt(document, ["stores", role]));
    return references.length === 0
      ? `stores.${role} is another place here and now than where it ran`
      : `stores.${role} refers to ${references.join(", ")}, which names another place here and now than where it ran`;
  });
  return `${named.join("; ")}: set it back, or write the place itself into the document`;
}

function referencesOf(value: unknown): readonly string[] {
  if (typeof value === "string") return referencesIn(value).map((name) => `\${${name}}`);
  if (Array.isArray(value)) return value.flatMap(referencesOf);
  return isBlock(value) ? [...new Set(Object.values(value).flatMap(referencesOf))] : [];
}
