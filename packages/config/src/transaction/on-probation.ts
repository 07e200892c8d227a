import type { ConfigHistoryEntry, Probation, Reversal, StoredConfig } from "@bridge/ports";
import type { LeftStores } from "./left-stores.ts";
import type { TriedDocument } from "./tried-document.ts";

/** A change that runs here and is not there to stay yet. */
export interface OnProbation {
  readonly probation: Probation;
  /** What comes back. */
  readonly base: StoredConfig;
  readonly tried: TriedDocument;
  /** For the history. */
  readonly entry: ConfigHistoryEntry;
  /** Why the former one runs again already: what is stored could not be read, and is taken back when it can. */
  readonly withdrawn?: Reversal | undefined;
  /** What its process has left in stores that the former one has elsewhere, when that has ended. */
  readonly left?: LeftStores | undefined;
}

/** What was taken back, for whoever counts and records it. */
export interface Reverted extends Reversal, Partial<LeftStores> {
  readonly version: number;
  readonly formerVersion: number;
  /** Who had committed it. */
  readonly actor: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** What was tried out, when it could not be kept: its note says so still. */
  readonly unkept?: StoredConfig | undefined;
}

/** What becomes of what an operator takes back. */
export type Revert =
  | { readonly status: "rolled_back"; readonly version: number }
  /** It is stored again and does not run. */
  | { readonly status: "committed_not_applied"; readonly version: number; readonly error: string };
