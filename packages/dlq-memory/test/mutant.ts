import type { DlqStoreCaseName } from "@bridge/conformance";
import type { DlqAdmin, DlqStore } from "@bridge/ports";

/** A memory DLQ with a fault in it, which the suite must find. */
export interface Mutant {
  /** What is wrong with the store: "a store that …". */
  readonly fault: string;
  readonly caughtBy: DlqStoreCaseName;
  /** The methods that differ from those of the sound `store`. */
  readonly mutate?: (store: DlqStore & { readonly admin: DlqAdmin }) => Partial<DlqStore>;
  /** What is left after an abrupt end. */
  readonly reopen?: (store: DlqStore) => Promise<DlqStore>;
}

export type Mutate = NonNullable<Mutant["mutate"]>;

export const ALL = { limit: Infinity, offset: 0 } as const;
