import type { ConfigHistoryEntry, ConfigStaging, ConfigStore } from "@bridge/ports";
import { confirmed } from "./commit-history.ts";
import type { KnownCommit } from "./contract.ts";
import type { StoredDocuments } from "./stored-documents.ts";
import { TransactionError } from "./transaction-error.ts";

/** What was taken back here, and is still what is stored. */
export interface TakenBackHere extends Required<Pick<ConfigHistoryEntry, "version" | "reverted">> {
  /** Whether its document is known, which is kept once the former one is stored. */
  readonly isKnown: boolean;
}

/** What goes on in this process. */
interface Running {
  readonly isCommitting: () => boolean;
  /** The version that is on probation, also while it is taken back and its document cannot be read. */
  readonly tried: () => number | undefined;
  readonly takenBack: () => TakenBackHere | undefined;
}

/** What was committed, as far as it is known by now; `undefined` when the store keeps no history. */
export async function knownCommits(
  store: ConfigStore,
  documents: StoredDocuments,
  { isCommitting, tried, takenBack }: Running,
  signal: AbortSignal,
): Promise<readonly KnownCommit[] | undefined> {
  const { history, versions, staging } = store;
  if (history === undefined) return undefined;
  const read = async (bound: AbortSignal) =>
    [await history.list(bound), new Set((await versions?.list(bound)) ?? [])] as const;
  const [entries, kept] = await documents.within(signal, read).catch((error: unknown) => {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new TransactionError("unavailable", `the history cannot be read: ${reason}`, { cause: error });
  });
  const version = (await documents.find(signal))?.version;
  const known = { version, staging, committing: isCommitting(), tried: tried(), takenBack: takenBack() };
  return entries
    .flatMap((entry) => asKnown(entry, known))
    .map((entry) => ({
      ...entry,
      available: entry.version === version || kept.has(entry.version) || isHeld(entry, known),
    }));
}

interface Known {
  /** Of what is stored. */
  readonly version: number | undefined;
  readonly staging: ConfigStaging | undefined;
  readonly committing: boolean;
  readonly tried: number | undefined;
  readonly takenBack: TakenBackHere | undefined;
}

/** Whether its document is in what is noted of its probation, from where it is kept when that is over. */
function isHeld({ version }: ConfigHistoryEntry, { takenBack }: Known): boolean {
  return takenBack?.isKnown === true && takenBack.version === version;
}

/**
 * An entry as far as its change is known to have come; nothing for one that was given up, or is being committed right
 * now.
 */
function asKnown(entry: ConfigHistoryEntry, known: Known): ConfigHistoryEntry[] {
  const { version, staging, committing, tried, takenBack } = known;
  if (entry.pending !== true) return [entry];
  if (entry.version === takenBack?.version) return [{ ...confirmed(entry), reverted: takenBack.reverted }];
  const leftBehind = staging === undefined ? version : staging.seen?.version;
  if ((entry.version === leftBehind || entry.version === tried) && !committing) return [entry];
  // What is stored was confirmed: the process ended before it could write that down here.
  return staging !== undefined && entry.version === version ? [confirmed(entry)] : [];
}
