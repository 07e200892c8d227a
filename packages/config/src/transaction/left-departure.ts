import type { StoredConfig } from "@bridge/ports";
import type { LeftBehind } from "./left-probation.ts";
import { movedStores } from "./moved-stores.ts";

/**
 * What is left behind in the stores of `former`, which cannot run again, when what is stored runs; `undefined` when both have the same
 * stores.
 */
export function leftByDeparture(
  former: StoredConfig,
  stored: StoredConfig | undefined,
  unusable: string,
): LeftBehind | undefined {
  const leftStores = movedStores(stored?.document ?? {}, former.document);
  if (leftStores.length === 0) return undefined;
  const { version, document: tried } = former;
  return { version, formerVersion: stored?.version ?? 0, leftStores, tried, unusable };
}
