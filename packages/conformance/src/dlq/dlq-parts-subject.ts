import type { DlqStore } from "@bridge/ports";
import type { Excuses } from "../case.ts";
import type { DlqCheck } from "./check.ts";
import type { DlqPartCaseName } from "./dlq-part-cases.ts";
import type { DlqStoreSubject } from "./dlq-store-subject.ts";

/** What a DLQ store may have and need not. */
export type DlqPart = "pages" | "facets" | "marks" | "jobs" | "trash";

/** A DLQ store whose parts the suite is to try. It goes by the machine's time. */
export interface DlqPartsSubject extends Omit<DlqStoreSubject, "except"> {
  /** What the store need not do, and why. */
  readonly except?: Excuses<DlqPartCaseName>;
  /**
   * Changes what the store keeps of an entry as JSON, as a disk or somebody else could, and opens the store again. Without this the
   * cases with a changed head have to be excused.
   */
  rewriteHead?(store: DlqStore, id: string, change: (head: string) => string): Promise<DlqStore>;
  /** The same with the time by which the store has the entry in order, and nothing else of it. */
  moveInTime?(store: DlqStore, id: string, failedAt: number): Promise<DlqStore>;
  /** The same with the id by which the store has the entry; `undefined`: it can have none under such an id. */
  rename?(store: DlqStore, id: string, to: string): Promise<DlqStore | undefined>;
  /** The same with the id by which the trash has an entry of the batch, which it then has under `to`, and the list may have, too. */
  renameInTrash?(
    store: DlqStore,
    entry: { readonly batch: string; readonly id: string },
    to: string,
  ): Promise<DlqStore>;
  /**
   * The same with the time, in epoch milliseconds, at which what the trash has of the batch ends. The store erases what is over its time soon
   * after that. Without this the cases with a changed end have to be excused.
   */
  moveEnds?(store: DlqStore, batch: string, until: number): Promise<DlqStore>;
  /** The same with the document that the store keeps of a job. Without this the cases with a damaged job have to be excused. */
  rewriteJob?(store: DlqStore, id: string, change: (document: string) => string): Promise<DlqStore>;
  /** The parts that it has. Default: all of them. */
  readonly parts?: readonly DlqPart[];
  /** How many entries of one time it is paged through. Default: 10,000. */
  readonly many?: number;
  /** How many random courses of what may happen to the trash are tried. Default: 12. */
  readonly courses?: number;
}

export type DlqPartCheck = (subject: DlqPartsSubject, signal: AbortSignal) => ReturnType<DlqCheck>;
