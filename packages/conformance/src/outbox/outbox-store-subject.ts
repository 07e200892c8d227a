import type { Clock, OutboxStore } from "@bridge/ports";
import type { Excuses } from "../case.ts";
import type { OutboxStoreCaseName } from "./outbox-store-cases.ts";

/** What the store of a case is opened with. */
export interface OutboxSuiteOptions {
  /** The suite's own, which it advances; the machine's, if the subject has a `pass`. */
  readonly clock: Clock;
  /** How long finished records stay as evidence, in milliseconds. */
  readonly retentionMs: number;
}

/** An outbox store that the suite is to try. */
export interface OutboxStoreSubject {
  /** What the store need not do, and why. */
  readonly except?: Excuses<OutboxStoreCaseName>;
  /** An empty store that no other case uses. The case disposes it. */
  open(options: OutboxSuiteOptions): Promise<OutboxStore>;
  /**
   * Ends the store as abruptly as it can be done (without closing it) and opens what is left of it. Without this the
   * cases that survive a restart have to be excused.
   */
  reopen?(store: OutboxStore, options: OutboxSuiteOptions): Promise<OutboxStore>;
  /**
   * Does what `reopen` does, and changes what is kept of one record while nobody has it open: its payload, or so that
   * nothing can be made of its headers. A store that cannot tell has the cases with spoiled records excused.
   */
  spoil?(
    store: OutboxStore,
    id: string,
    how: "changed" | "unreadable",
    options: OutboxSuiteOptions,
  ): Promise<OutboxStore>;
  /** Another handle on the same records, for races. Default: the same handle. */
  second?(store: OutboxStore, options: OutboxSuiteOptions): Promise<OutboxStore>;
  /**
   * For a store that goes by a time of its own, such as its server's: lets `ms` of it pass, or more. The cases that set
   * the clock, or look at a last millisecond, then have to be excused.
   */
  pass?(ms: number): Promise<void>;
}
