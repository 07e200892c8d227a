import type { StoredConfig } from "@bridge/ports";
import type { Problem } from "../problem.ts";
import { own } from "./effective.ts";

/**
 * Of a kind, such as routes. A text of 1 MB has room for several times as many, each of which is shown with all its
 * defaults.
 */
const MAX_PARTS = 10_000;

/** Of which kinds a change brings more parts than a transaction takes. What has as many already may keep them. */
export function tooManyParts(before: StoredConfig["document"], after: StoredConfig["document"]): readonly Problem[] {
  return Object.entries(after).flatMap(([kind, parts]) => {
    if (!Array.isArray(parts) || parts.length <= MAX_PARTS) return [];
    const former = own(before, kind);
    if (Array.isArray(former) && parts.length <= former.length) return [];
    const message = `would be ${parts.length}: a change over the admin API makes at most ${MAX_PARTS} of a kind`;
    return [{ path: [kind], message }];
  });
}
