import type { Probation, Reversal } from "./probation.ts";
import type { StoredConfig } from "./stored-config.ts";

/** What a probation needs of a store that one process writes to, to outlast that process. */
export interface ConfigProbations {
  /**
   * As `ConfigStore.write`; before it writes, it notes durably how to go back. `undefined`, too, while another process has a
   * document on probation.
   */
  begin(
    document: Readonly<Record<string, unknown>>,
    expected: StoredConfig,
    probation: Probation,
    signal: AbortSignal,
    text?: string,
  ): Promise<StoredConfig | undefined>;
  /**
   * What was left. A note of a document that is stored no more is removed, unless what was tried out is known: that is told. Where no document is stored, or an empty one, the former
   * one is put back first, so that nothing comes into force unseen. What another process has that runs is its own to settle.
   * @throws Error when there is a note that cannot be read
   */
  find(signal: AbortSignal): Promise<LeftProbation | ReplacedProbation | ProbationBeside | undefined>;
  /** Notes durably how it stands with the probation that was begun or found last. */
  note(standing: Pick<LeftProbation, "probation" | "orderly" | "reversal">, signal: AbortSignal): Promise<void>;
  /** Forgets what was begun or found last, durably. What another process has noted stays. */
  end(signal: AbortSignal): Promise<void>;
  /**
   * What another process has on probation, or has left so, as far as that can be read: until it is settled nobody else changes what is
   * stored. Absent: no other process does.
   * @throws Error with the remedy when there is a note that cannot be read
   */
  elsewhere?(signal: AbortSignal): Promise<ProbationBeside | undefined>;
}

/** What a process has left that ended while a document was on probation. */
export interface LeftProbation {
  readonly probation: Probation;
  readonly former: StoredConfig;
  /** What is stored, if it is the document on probation; `undefined`: `former` is back already. */
  readonly current: StoredConfig | undefined;
  /** What was stored to be tried out, also when another document, or none, has been stored since; `undefined` when that is not known. */
  readonly tried: StoredConfig | undefined;
  /** Whether the process has ended in order. */
  readonly orderly: boolean;
  /** That it was about to be taken back, and why. */
  readonly reversal?: Reversal;
  /** Why `former` could not be put where no document is stored, an empty one, or one that cannot be read; `current` is then the document on probation, empty when that is not known. */
  readonly hindered?: Hindrance;
}

/** Why a document cannot be stored again. */
export type Hindrance = { readonly unreadable: string } | { readonly unwritable: string };

/** What a process has left that ended while a document was on probation, which another hand has replaced since: that one's counts. */
export interface ReplacedProbation {
  readonly probation: Probation;
  readonly former: StoredConfig;
  /** What was stored to be tried out. */
  readonly tried: StoredConfig;
  /** What is stored. */
  readonly replacedBy: StoredConfig;
}

/** What somebody else who writes the same document has on probation, or has left so. */
export interface ProbationBeside extends Pick<LeftProbation, "probation" | "orderly"> {
  /** Whether whoever has it is taken to run: it does, or nobody can tell. `false`: {@link ConfigProbations.find} tells. */
  readonly runs: boolean;
  /** Another hand has stored something else, and whoever had it on probation does not run. It is in nobody's way. */
  readonly replaced?: true;
}
