/**
 * Changing a configuration that runs (spec 2.13, 3.6, 4.9): what whoever serves the calls needs to know. @module
 */
import type { ConfigHistoryChange, ConfigHistoryEntry, ConfigText, Probation, ProbationGuard } from "@bridge/ports";
import type { BridgeConfig } from "../model.ts";
import type { Path, Problem } from "../problem.ts";
import type { ChangePlan } from "./applier.ts";
import type { Revert } from "./on-probation.ts";
import type { LeftElsewhere } from "./probation-elsewhere.ts";
import type { Stranding } from "./stranding.ts";
import type { ConflictReason } from "./transaction-error.ts";
import type { TransactionOutcome } from "./transaction-state.ts";

/** A document without its plugin options, with its defaults, redacted. */
export type ConfigView = Readonly<Record<string, unknown>>;

export interface TransactionInfo {
  readonly id: string;
  /** The version that it was opened against. */
  readonly version: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export interface Inspection extends TransactionInfo {
  readonly patchCount: number;
  /** What a commit would make of the configuration. */
  readonly preview: ConfigView;
}

export interface Patched {
  readonly preview: ConfigView;
  /** What a commit would be refused for; another patch can mend it. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** What a commit would do now. */
export interface DryRun {
  /** The places of options that it would be refused for, because their entries change type or transport. */
  readonly erasedOptions: readonly Path[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Whether the stored configuration moved since the transaction was opened, for which it would be refused. */
  readonly conflict: boolean;
  readonly changes: readonly ConfigHistoryChange[];
  /** What it would leave behind, for which it would be refused. */
  readonly stranding?: Stranding;
  /** What would be restarted. Absent when it would be refused, and when nothing applies configurations. */
  readonly plan?: ChangePlan;
}

/** What is stored, as people wrote it, as far as it may be seen. */
export interface ShownText extends ConfigText {
  readonly version: number;
  /** Of what is stored. */
  readonly revision: string;
  /** How many values are `[REDACTED]`. */
  readonly redacted: number;
}

/** What a commit would change, and restart. */
export interface Difference extends Pick<DryRun, "changes" | "plan" | "warnings"> {
  /** That it would change. */
  readonly version: number;
  /** Between the texts, redacted, as `diff -u` tells it. Absent when the store keeps none. */
  readonly text?: string;
}

/** An entry of the history, and whether one can go back to it. */
export interface KnownCommit extends ConfigHistoryEntry {
  /** Whether a transaction can begin with its document. */
  readonly available: boolean;
}

export type CommitResult =
  /** Refused, and the transaction stays open. */
  | { readonly status: "erases_options"; readonly erasedOptions: readonly Path[] }
  | { readonly status: "invalid"; readonly problems: readonly Problem[] }
  | { readonly status: "stranding"; readonly stranding: Stranding }
  /**
   * Nothing was written: the stored configuration moved, or cannot be written to; `reason` `probation`: another
   * instance has a change on probation. `error` is for operators.
   */
  | { readonly status: "conflict"; readonly error: string; readonly reason?: ConflictReason }
  /** It runs, or will without anybody doing more; or nothing applies configurations. */
  | { readonly status: "committed" | "committed_applying"; readonly version: number }
  /** It runs, and is taken back unless somebody confirms it until `confirmBy` (epoch milliseconds). */
  | {
      readonly status: "probation";
      readonly version: number;
      readonly formerVersion: number;
      readonly confirmBy: number;
    }
  /**
   * It could not be applied, and what was stored before is stored again, with that version. `error` says if it does not
   * run.
   */
  | { readonly status: "rolled_back"; readonly version: number; readonly error: string }
  /** It could not be written, or neither applied nor undone. `version` is what is stored. */
  | { readonly status: "committed_not_applied"; readonly version: number; readonly error: string };

/** How a commit is to be tried out. */
export interface CommitTrial {
  /** It is taken back unless it is confirmed within so many milliseconds. */
  readonly withinMs: number;
  /** What else takes it back. Default: nothing. */
  readonly guard?: ProbationGuard | undefined;
}

/** A stored configuration that does not run because a commit went wrong. */
export interface NotApplied {
  /** Of the stored configuration. */
  readonly version: number;
  readonly error: string;
}

/** One transaction at a time; it ends by a commit, by a rollback, or by its time to live. */
export interface ConfigTransactions {
  /** @throws TransactionError unavailable without a configuration */
  current(signal: AbortSignal): Promise<{ readonly version: number; readonly config: ConfigView }>;
  /**
   * What is stored, with comments and options, for whoever is to change it as a whole.
   * @throws TransactionError unavailable without a configuration, unsupported when the store keeps no texts
   */
  document(signal: AbortSignal): Promise<ShownText>;
  /**
   * @param fromVersion begins with the document of that version. Default: with what is stored
   * @throws TransactionError conflict while another is open, unavailable without a configuration, not_found when that
   * version is not kept, unsupported when none are
   */
  open(
    ttlMs: number,
    signal: AbortSignal,
    fromVersion?: number,
  ): Promise<TransactionInfo & { readonly config: ConfigView }>;
  /** Whether the transaction is there, open or being committed. */
  has(id: string): boolean;
  /** Rejects with a TransactionError not_found. */
  inspect(id: string): Promise<Inspection>;
  /**
   * @throws TransactionError not_found, conflict; OverlayError when the overlay cannot be merged. Nothing changes then.
   */
  patch(id: string, overlay: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Patched>;
  /**
   * Puts a whole document in place of the pending one: options change that way, too, and what is left out goes.
   * `[REDACTED]` stands for what {@link ConfigTransactions.document} shows as that in the same place.
   * @throws TransactionError not_found, conflict, unsupported when the store keeps no texts; OverlayError when the text
   * is no document, or holds what no change may bring. Nothing changes then.
   */
  replace(id: string, text: string, signal: AbortSignal): Promise<Patched>;
  /** Says what a commit would change. @throws TransactionError not_found, conflict */
  diff(id: string, signal: AbortSignal): Promise<Difference>;
  /** Says what a commit would do. @throws TransactionError not_found, conflict */
  validate(id: string, signal: AbortSignal): Promise<DryRun>;
  /**
   * Validates, writes, applies. Takes no signal: it goes on whatever becomes of the caller, and each step is bounded.
   * @param trial it is taken back unless it is confirmed. Default: it is there to stay
   * @throws TransactionError not_found, conflict while it is being committed already; with a trial, conflict
   * `not_running` when nothing runs that could try it out, and unsupported when the store or whoever applies
   * configurations cannot do that
   */
  commit(id: string, actor: string, trial?: CommitTrial): Promise<CommitResult>;
  /** Makes what is on probation there to stay. @throws TransactionError conflict, with the reason */
  confirm(version: number): Promise<void>;
  /** Takes it back at once. @throws TransactionError conflict, with the reason */
  revert(version: number, reason: string): Promise<Revert>;
  /** What is on probation here, or taken back and not stored again yet. */
  probation(): Probation | undefined;
  /** What is on probation here and has not been taken back. */
  confirmable(): Probation | undefined;
  /** What is on probation beyond its end, at an instance that has not ended it. */
  leftElsewhere(): LeftElsewhere | undefined;
  /**
   * Of what was taken back when its process had ended, or could not be run again after that, by whichever process:
   * which messages are where nobody delivers or sees them, and how to get at them. Until a configuration is in force
   * that has their stores, or that may leave them, whoever has brought it there.
   */
  leftBehind(): string | undefined;
  /** How many were taken back, by why, since the start; this start's own included. */
  reverts(): Readonly<Record<string, number>>;
  /**
   * Of what is taken back and cannot be stored again yet: what runs, why, and what helps; `undefined` when there is
   * none.
   */
  withdrawn(): string | undefined;
  /**
   * Whether something else runs here in place of what is stored as `revision`: what is tried out over it, or the former
   * one because it is taken back and still stored.
   */
  triesOver(revision: string): boolean;
  /** Before a process ends in order: the next one goes on with what is on probation. Never rejects. */
  suspend(): Promise<void>;
  /** Discards the transaction. @throws TransactionError not_found, conflict while it is being committed */
  rollback(id: string): void;
  /** What was committed, the newest first; `undefined` when the store keeps no history. */
  history(signal: AbortSignal): Promise<readonly KnownCommit[] | undefined>;
  /** How many transactions came to what, since the start. A commit that was refused leaves its transaction open. */
  outcomes(): Readonly<Record<TransactionOutcome, number>>;
  /** How what is stored differs from what runs, by the last commit's doing; `undefined` while it does not. */
  notApplied(): NotApplied | undefined;
  /** The process runs with this, which it has started with. */
  started(config: BridgeConfig): void;
  /** Whoever follows what is stored has brought it into force; `config` is what, as far as it is known. */
  followed(config?: BridgeConfig): void;
  /**
   * A commit that has not come to its end, to wait for; whoever else applies configurations must not do so meanwhile.
   */
  readonly underWay: Promise<unknown> | undefined;
}
