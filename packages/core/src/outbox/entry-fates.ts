/** What is watched, and what a drain has found of it. */
interface Fate {
  /** A drain here has deleted it. */
  deleted: boolean;
  /** A drain here was to delete it, and it was gone. */
  gone: boolean;
}

/** Ends with its disposal. */
export interface EntryWatch extends Disposable {
  readonly entryId: string;
  /** Somebody else has deleted the entry: every drain that was to do it found it gone. */
  readonly deletedByOthers: boolean;
}

/**
 * What the drains of a route have done with the dead letters that somebody waits to see redriven: so that an entry which
 * another caller has deleted meanwhile counts there, and not here too. Holds no more than there are waiters.
 */
export class EntryFates {
  readonly #fates = new Map<string, Fate>();

  /** Of one redrive at a time: a second one of an entry is refused. */
  watch(entryId: string): EntryWatch {
    const fate: Fate = { deleted: false, gone: false };
    this.#fates.set(entryId, fate);
    return {
      entryId,
      // Sent again after it was deleted here, it is gone, too.
      get deletedByOthers() {
        return fate.gone && !fate.deleted;
      },
      [Symbol.dispose]: () => {
        if (this.#fates.get(entryId) === fate) this.#fates.delete(entryId);
      },
    };
  }

  /** A drain was to delete it, and did or found it gone. */
  told(entryId: string, deleted: boolean): void {
    const fate = this.#fates.get(entryId);
    if (fate === undefined) return;
    if (deleted) fate.deleted = true;
    else fate.gone = true;
  }
}
