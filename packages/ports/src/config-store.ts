/** Keeps the document that configures a bridge, as people wrote it. @module */
import { knownAcrossCopies } from "./known-across-copies.ts";

/** A document in a store at one moment. */
export interface StoredConfig {
  /** Its `config_version`; 0 when it has none. */
  readonly version: number;
  /** Names the exact content: any write changes it, by whatever hand, also one that leaves the version alone. */
  readonly revision: string;
  /** As written: references such as `${env:NAME}` are not resolved, nothing is validated. */
  readonly document: Readonly<Record<string, unknown>>;
}

/**
 * What a watched store has to tell: something to run, or why there is none.
 *
 * - `changed`: another hand wrote this; what the store itself wrote is not told.
 * - `missing`: there is no document any more.
 * - `unreadable`: there is one, but it cannot be read or parsed; `error` is for people and quotes no value.
 */
export type ConfigChange =
  | { readonly kind: "changed"; readonly stored: StoredConfig }
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly error: Error };

/** One committed change, for whoever asks what happened to a configuration. Holds no secret. */
export interface ConfigHistoryEntry {
  readonly version: number;
  /** Epoch milliseconds. */
  readonly committedAt: number;
  /** The name of the admin key that committed it. */
  readonly actor: string;
  /** One entry for each value that changed; secrets and plugin options are redacted. */
  readonly changes: readonly ConfigHistoryChange[];
  /**
   * Whether what became of the change is not known yet: an entry is appended as pending before the document is written,
   * and once more, without this, when its version is known to be what runs or will run. A pending entry whose version is
   * in the store tells the next start that this version never ran, as far as is known.
   */
  readonly pending?: true;
  /** That it was taken back after it had run, when (epoch milliseconds), and why. */
  readonly reverted?: Reversal & { readonly at: number };
}

export interface ConfigHistoryChange {
  /** Such as `routes[alarms].policy.max_in_flight`. */
  readonly path: string;
  /** Absent when the value is new. */
  readonly before?: unknown;
  /** Absent when the value was removed. */
  readonly after?: unknown;
}

/**
 * Where the configuration of a bridge is kept. One writer wins: every write is a compare-and-set on the version and on
 * the exact content.
 */
export interface ConfigStore extends AsyncDisposable {
  /** For people, as in `config_watch.source`: the path of a file, the name of a table. */
  readonly source: string;
  /**
   * Names the content that this store has last loaded, written or told, also that there was none; `undefined` before the
   * first. Another content has another name.
   */
  readonly seen: string | undefined;
  /** The most that a document may have as JSON, in bytes. Absent: more than anybody commits. */
  readonly maxDocumentBytes?: number;
  /**
   * `undefined` when there is no document.
   * @throws Error when there is one that cannot be read or parsed
   */
  load(signal: AbortSignal): Promise<StoredConfig | undefined>;
  /**
   * Writes `document` as version `expected.version + 1`, durably and whole or not at all. `undefined`, and nothing is
   * written, when what is stored has not the revision of `expected` any more; its version may be a higher one than that.
   * @param text a text that is changed so that it says `document`, for a store that has {@link texts}. Default: that of what
   * is stored
   * @throws ReadOnlyConfigError when this store cannot be written to
   */
  write(
    document: Readonly<Record<string, unknown>>,
    expected: StoredConfig,
    signal: AbortSignal,
    text?: string,
  ): Promise<StoredConfig | undefined>;
  /**
   * Puts back exactly what `former` was, its version too, if what is stored is still `current`; tells whether it is
   * done. `former` comes from this store's own `load` or `write` in this process.
   */
  restore(former: StoredConfig, current: StoredConfig, signal: AbortSignal): Promise<boolean>;
  /**
   * Tells of changes by other hands since this store last loaded or wrote, until `signal` aborts, at which it ends; the
   * newest one only, when the reader is slow.
   */
  watch(signal: AbortSignal): AsyncIterable<ConfigChange>;
  /** Committed changes, kept beside the document; the newest 20. Absent when the store keeps none. */
  readonly history?: ConfigHistory;
  /** The texts of documents, to be shown and replaced as a whole. Absent: the store keeps documents without their texts. */
  readonly texts?: ConfigTexts;
  /** Former documents, to go back to. Absent: the store keeps none. */
  readonly versions?: ConfigVersions;
  /** What a change may leave behind, kept over the end of the process. Absent: instances share what is stored, or nothing outlasts a process. */
  readonly departures?: ConfigDepartures;
  /** For commits that revert themselves, where one process writes what is stored. Absent: see {@link staging}. */
  readonly probations?: ConfigProbations;
  /** For a document that several instances follow. Absent: one instance reads and commits what is stored. */
  readonly staging?: ConfigStaging;
}

/** A document that the instance which commits it tries out. */
export interface StagedConfig {
  /** That it will have. */
  readonly version: number;
  /** That it will have. */
  readonly revision: string;
  /** Names the instance. */
  readonly by: string;
  /** Epoch milliseconds, by the clock of that instance. */
  readonly at: number;
  /** Of one that is on probation there: when that ends. */
  readonly until?: number;
}

export interface StagingRequest extends Pick<StagedConfig, "by" | "at" | "until"> {
  /** Epoch milliseconds: what another instance staged earlier than this, or was to end earlier, was left behind, and is replaced. */
  readonly leftBehindBefore: number;
}

/**
 * Lets an instance try a document out before any other has to run it. What is staged lies beside what is stored: nobody
 * loads it, and no watch tells it, until it is confirmed. An instance that ends meanwhile leaves it behind, to no effect.
 *
 * One document is staged at a time, and every step is a compare-and-set. Writing, restoring and any other hand's change of
 * what is stored take away what is staged.
 */
export interface ConfigStaging {
  /** What was staged when this store last looked, for whatever reason. */
  readonly seen: StagedConfig | undefined;
  /** What is staged now. */
  look(signal: AbortSignal): Promise<StagedConfig | undefined>;
  /**
   * Stages `document` as version `expected.version + 1`. `undefined`, and nothing changes, when what is stored has not the
   * revision of `expected` any more, or something else is staged that was not left behind.
   */
  stage(
    document: Readonly<Record<string, unknown>>,
    expected: StoredConfig,
    request: StagingRequest,
    signal: AbortSignal,
  ): Promise<StagedConfig | undefined>;
  /**
   * Makes what is staged what is stored; the watches of this store do not tell it. `false` when it is staged no more;
   * `true`, too, when that was done already.
   */
  confirm(staged: StagedConfig, signal: AbortSignal): Promise<boolean>;
  /**
   * Takes it away, if it is still staged, and tells whether this did: of several who do it, and of one who confirms, one is told so.
   * `true`, too, when the answer was lost and it is gone.
   */
  discard(staged: StagedConfig, signal: AbortSignal): Promise<boolean>;
}

export interface ConfigHistory {
  /**
   * If an entry is pending whose version is at most that of `entry`, `entry` takes its place. One of a higher version stays: another
   * instance has begun it since. An entry of the same version and time is taken for the same one: `entry` takes its place, too.
   */
  append(entry: ConfigHistoryEntry, signal: AbortSignal): Promise<void>;
  /** The highest version first; of one version, what was appended last. */
  list(signal: AbortSignal): Promise<readonly ConfigHistoryEntry[]>;
}

/** A document as people wrote it, with its comments and its layout. */
export interface ConfigText {
  /** Of which form it is; YAML may be JSON. */
  readonly format: "yaml" | "json";
  readonly text: string;
}

export interface ConfigTexts {
  /** Of what this store has loaded, written or told. */
  of(stored: StoredConfig, signal: AbortSignal): Promise<ConfigText>;
  /** What `text` says. @throws ConfigTextError when it is no document, or none that this store could write */
  read(text: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
  /**
   * `text`, which is a document, changed so that it says `document`; what does not change stays as it is written.
   * @param hidden each of these is replaced by `[REDACTED]` where a comment holds it
   */
  edit(
    text: string,
    document: Readonly<Record<string, unknown>>,
    hidden: readonly string[],
    signal: AbortSignal,
  ): Promise<string>;
}

/** Documents that were stored, and then replaced by a write or by a confirmation; the newest 20. */
export interface ConfigVersions {
  /** The versions of which there is one, the newest first. */
  list(signal: AbortSignal): Promise<readonly number[]>;
  /** What was stored as `version` last, as from {@link ConfigStore.load}; `undefined` when it is not kept. */
  load(version: number, signal: AbortSignal): Promise<StoredConfig | undefined>;
  /** Keeps a document that was taken back, to be mended; this store has loaded, written or staged it. */
  keepReverted(reverted: Pick<StoredConfig, "version" | "document">, signal: AbortSignal): Promise<void>;
  /** Absent: what is left in stores is known to a process as long as that lasts. */
  readonly left?: ConfigLeftVersions;
}

/** A store of messages that a document may name. */
export type LeftStore = "outbox" | "dlq";

/** A former document with stores in which messages may wait that nobody delivers or sees. */
export interface LeftVersion {
  readonly version: number;
  /** At least one. */
  readonly stores: readonly LeftStore[];
  /** For people. */
  readonly where: string;
  /**
   * As from {@link ConfigStore.load}, and whether somebody has changed it since it was kept; or why it cannot be read, without quoting
   * it.
   */
  readonly kept: { readonly stored: StoredConfig; readonly changed?: true } | { readonly unreadable: string };
}

/** Former documents that have left something in their stores: the newest 20 of them, beside the others, and over restarts. */
export interface ConfigLeftVersions {
  /** The newest first. */
  list(signal: AbortSignal): Promise<readonly LeftVersion[]>;
  /**
   * Keeps a document that comes from this store in this process, durably: {@link ConfigVersions.load} finds it by its version before any
   * other. What it has left already stays so.
   */
  keep(left: StoredConfig, stores: readonly LeftStore[], signal: AbortSignal): Promise<void>;
  /** Of one that was listed only `stores` are left; of none, it is kept as any that was taken back. */
  narrow(left: LeftVersion, stores: readonly LeftStore[], signal: AbortSignal): Promise<void>;
}

/** A text that is no document; the message says why, and where, without quoting it. */
export class ConfigTextError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "ConfigTextError" });
    knownAcrossCopies(this, "config-text-error");
  }
}

/** What ends a {@link Probation} before its time. */
export interface ProbationGuard {
  /** The readiness level that is to be held, such as `full`. Absent: none. */
  readonly level?: string;
  /** How long on end it may be missed. */
  readonly levelForMs?: number;
  /** Of the sends of the routes that the change has restarted or added: how many of them may fail, 0 to 1. Absent: any. */
  readonly failureRatio?: number;
  /** Before so many sends nothing is said of their failures. */
  readonly minSends?: number;
}

/** A document that runs and is taken back unless somebody confirms it. */
export interface Probation {
  readonly version: number;
  /** What comes back. */
  readonly formerVersion: number;
  /** Epoch milliseconds: until when it has to be confirmed. */
  readonly confirmBy: number;
  /** How long that was when it began: whatever a clock says, never more is left of it. Absent: it was noted without. */
  readonly withinMs?: number;
  /** The name of the admin key that committed it. */
  readonly actor: string;
  readonly guard?: ProbationGuard;
  /** Whose sends the guard counts. */
  readonly routes: readonly string[];
}

/** Why a document was taken back. */
export interface Reversal {
  /** `not_confirmed`, `level`, `failure_ratio`, `operator` or `process_ended`. */
  readonly why: string;
  /** For people: such as `12 of 96 sends failed`, or what the operator has said. */
  readonly detail?: string;
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

/** What a probation needs of a store that one process writes to, to outlast that process. */
export interface ConfigProbations {
  /**
   * As {@link ConfigStore.write}; before it writes, it notes durably how to go back. `undefined`, too, while another process has a
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

/**
 * Remembers a document that is stored no more, or soon will not be, while messages that came in under it may wait where what is stored
 * delivers and sees nothing.
 */
export interface ConfigDepartures {
  /** Durable when it resolves; takes the place of what was remembered. `former` comes from this store in this process. */
  remember(former: StoredConfig, signal: AbortSignal): Promise<void>;
  /** Durable when it resolves; does nothing when nothing is remembered. */
  forget(signal: AbortSignal): Promise<void>;
  /** What is remembered. @throws Error with the remedy when that cannot be read */
  find(signal: AbortSignal): Promise<StoredConfig | undefined>;
}

/** A document that can be read here and not written. */
export class ReadOnlyConfigError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "ReadOnlyConfigError" });
    knownAcrossCopies(this, "read-only-config-error");
  }
}
