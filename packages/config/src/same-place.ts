import { isDeepStrictEqual } from "node:util";
import type { StoreConfig } from "./model.ts";

/** Whether what one store holds is what the other one holds. */
export function samePlace(from: StoreConfig, to: StoreConfig | undefined): boolean {
  if (to?.type !== from.type) return false;
  if (from.place !== undefined || to.place !== undefined) return from.place === to.place;
  return isDeepStrictEqual(from.options, to.options);
}
