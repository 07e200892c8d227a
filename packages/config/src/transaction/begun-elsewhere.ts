import { isDeepStrictEqual } from "node:util";
import type { StoredConfig } from "@bridge/ports";
import { valueAt } from "../check/value-at.ts";
import type { Problem } from "../problem.ts";
import type { NamedStores } from "./named-stores.ts";
import { elsewhereNow, leadsElsewhere } from "./store-places.ts";

/**
 * Why a document that was begun with a version which has left something in its stores does not reach it: a store that
 * nobody has changed in it since is another place here and now.
 *
 * @param former that version, with where its stores were. `undefined`: it was begun with what is stored
 * @param now which stores a commit would open
 */
export function begunElsewhere(
  document: StoredConfig["document"],
  former: StoredConfig | undefined,
  now: NamedStores,
): readonly Problem[] {
  if (former === undefined) return [];
  return elsewhereNow(former.places ?? {}, now).flatMap((role) => {
    const path = ["stores", role];
    const isAsItWas = ["type", "options"].every((key) =>
      isDeepStrictEqual(valueAt(document, [...path, key]), valueAt(former.document, [...path, key])),
    );
    if (!isAsItWas) return [];
    const message = `${leadsElsewhere(document, role)} than where version ${former.version} has left messages: set it back, or write the place itself here`;
    return [{ path, message }];
  });
}
