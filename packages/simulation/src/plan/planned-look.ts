import type { TapOptions } from "@bridge/core";

/** Somebody looks at what the route of an instance settles, and may not take what is shown. */
export interface PlannedTap {
  readonly options: TapOptions;
  /** How long he needs for each batch. Default: he never takes one. */
  readonly readsMs?: number;
}

/** What onlookers do: nothing that goes wrong, and nothing that may change anything. */
export type Look =
  | { readonly kind: "tap"; readonly tap: PlannedTap }
  /** Somebody asks again and again where messages are: those that are being sent, and so many of the newest. */
  | { readonly kind: "where"; readonly everyMs: number; readonly messages: number };
