/** What a store knows of itself, without asking its disk or server. */
export interface StoreHealth {
  /** Why it refuses to be written to at the moment, in words for an operator; absent while it does not. */
  readonly fault?: string | undefined;
  /** Damaged files that it has set aside and that no operator has acknowledged. Empty when nothing is missing. */
  readonly setAside: readonly string[];
  /**
   * Records or entries that were found not to be as they were written, since the store was opened. They are kept and never
   * delivered, until an operator acknowledges or deletes them. Default: 0.
   */
  readonly spoiled?: number | undefined;
}

/** What a store may tell operators of its state; a store that has nothing to tell has neither method. */
export interface TellsHealth {
  /** At once: it is asked for each probe. Never throws. */
  health?(): StoreHealth;
  /**
   * Asks its disk or server at once whether it takes writes. Resolves when `health` tells what came of it, within some
   * seconds, also when there was no answer. Never rejects. A store whose health is always of the moment has no such method.
   */
  prove?(): Promise<void>;
  /**
   * An operator knows of the damaged files, and of spoiled records: they are named no more, also after a restart. Nothing
   * of them is deleted. Returns those that were named until now. Throws a {@link BridgeError} when that cannot be made to last.
   */
  acknowledgeDamage?(): readonly string[];
}
