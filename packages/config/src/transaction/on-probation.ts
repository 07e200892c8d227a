import type { ConfigHistoryEntry, Probation, Reversal, StoredConfig } from "@bridge/ports";
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
}

/** What was taken back, for whoever counts and records it. */
export interface Reverted extends Reversal {
  readonly version: number;
  readonly formerVersion: number;
  /** Who had committed it. */
  readonly actor: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Stores that it had at another place than the former one: what came in meanwhile is still there. Default: none. */
  readonly leftStores?: readonly string[] | undefined;
  /** What says where they are. */
  readonly tried?: StoredConfig["document"] | undefined;
}

/** What becomes of what an operator takes back. */
export type Revert =
  | { readonly status: "rolled_back"; readonly version: number }
  /** It is stored again and does not run. */
  | { readonly status: "committed_not_applied"; readonly version: number; readonly error: string };
