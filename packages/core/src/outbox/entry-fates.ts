/** What the drains did with a watched entry. */
interface Fate {
  /** A drain here deleted it. */
  deleted: boolean;
  /** A drain here tried to delete it and found it gone. */
  gone: boolean;
}

/** Watches an entry until disposed. */
export interface EntryWatch extends Disposable {
  readonly entryId: string;
  /** Whether somebody else deleted the entry: every drain here that tried found it gone. */
  readonly deletedByOthers: boolean;
}

/**
 * Tracks what a route's drains did with the dead letters whose redrive a caller awaits, so that an entry which another
 * caller deleted is counted there and not here too. Holds no more than there are waiters.
 */
export class EntryFates {
  readonly #fates = new Map<string, Fate>();

  /** Only one redrive of an entry can watch at a time: a second is refused. */
  watch(entryId: string): EntryWatch {
    const fate: Fate = { deleted: false, gone: false };
    this.#fates.set(entryId, fate);
    return {
      entryId,
      // A record sent again after the entry was deleted here finds it gone, too.
      get deletedByOthers() {
        return fate.gone && !fate.deleted;
      },
      [Symbol.dispose]: () => {
        if (this.#fates.get(entryId) === fate) this.#fates.delete(entryId);
      },
    };
  }

  /** A drain tried to delete the entry; `deleted`: it did, rather than finding it gone. */
  told(entryId: string, deleted: boolean): void {
    const fate = this.#fates.get(entryId);
    if (fate === undefined) return;
    if (deleted) fate.deleted = true;
    else fate.gone = true;
  }
}
