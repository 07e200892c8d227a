import type { TapOptions } from "@bridge/core";

/** Somebody watches what an instance's route settles, and may not take what is shown. */
export interface PlannedTap {
  readonly options: TapOptions;
  /** How long he needs for each batch, in milliseconds. Default: he never takes one. */
  readonly readsMs?: number;
}

/** What onlookers do: no fault, and nothing that may change anything. */
export type Look =
  | { readonly kind: "tap"; readonly tap: PlannedTap }
  /** Somebody asks again and again where messages are: those that are being sent, and so many of the newest. */
  | { readonly kind: "where"; readonly everyMs: number; readonly messages: number };
