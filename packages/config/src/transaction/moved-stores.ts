import { isDeepStrictEqual } from "node:util";
import type { StoredConfig } from "@bridge/ports";
import { valueAt } from "../check/value-at.ts";
import type { Stranded } from "./stranding.ts";

const ROLES: readonly Stranded["store"][] = ["outbox", "dlq"];

/** The stores that `to` has, and `from` has not, or otherwise; of documents as they are written. */
export function movedStores(
  from: StoredConfig["document"],
  to: StoredConfig["document"],
): readonly Stranded["store"][] {
  return ROLES.filter((role) => {
    const [former, other] = [from, to].map((document) => valueAt(document, ["stores", role]));
    return other !== undefined && !isDeepStrictEqual(former, other);
  });
}
