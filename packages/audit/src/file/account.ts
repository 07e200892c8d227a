import type { ChainedFile, Disturbance } from "./chained-file.ts";
import { GENESIS, type Link } from "./record.ts";

/** What is missing in a file that was opened again. */
export interface Missing {
  /** What somebody did to it. */
  readonly harm: Disturbance | undefined;
  /** Records that had been written, and their writers told so. */
  readonly lost: number;
  /** Events that could not be written, and their writers told so. */
  readonly unwritten: number;
}

const NOTHING: Missing = { harm: undefined, lost: 0, unwritten: 0 };

/** What the writers of events were told, and so what a file that is opened again has to hold. */
export class Account {
  /** The last record whose writer was told that it is kept; `undefined` before the file was open. */
  #confirmed: Link | undefined;
  /** Events since then whose writers were told that they are not. */
  #failed = 0;
  /** The last record of the files before the current one. */
  #before = 0;
  /** The last record of the file when it was closed: some behind those confirmed may be in it. */
  #last: Link | undefined;

  get confirmed(): Link {
    return this.#confirmed ?? GENESIS;
  }

  /** Where the chain goes on when nothing of it is there. */
  get last(): Link | undefined {
    return this.#last;
  }

  get hasFailures(): boolean {
    return this.#failed > 0;
  }

  /** Everything in the file is kept, and what is missing in it has been told. */
  confirm(file: ChainedFile): void {
    this.#confirmed = file.head;
    this.#before = file.before;
    this.#failed = 0;
    this.#last = undefined;
  }

  fail(events: number): void {
    this.#failed += events;
  }

  /** A file that was confirmed is closed. */
  leave(file: ChainedFile): void {
    this.#before = file.before;
    this.#last = file.head;
  }

  /** What `file` lacks. `seen` is what was noticed while it was open, `wasThere` whether it need not be made. */
  missingIn(file: ChainedFile, seen: Disturbance | undefined, wasThere: boolean): Missing {
    const known = this.#confirmed;
    if (known === undefined) return NOTHING;
    const lost = this.#lost(known, file.found, seen);
    // What was not confirmed may be in the file all the same, if it is still that file.
    const unwritten = lost > 0 ? this.#failed : Math.max(0, this.#failed + known.seq - file.head.seq);
    return { harm: seen ?? (lost === 0 ? undefined : wasThere ? "cut" : "gone"), lost, unwritten };
  }

  #lost(known: Link, found: Link | undefined, seen: Disturbance | undefined): number {
    const inFile = Math.max(0, known.seq - this.#before);
    if (found === undefined) return inFile;
    if (found.seq < known.seq) return known.seq - found.seq;
    // A file that was open and whole had nothing behind what was confirmed.
    const isAnother = found.hash !== known.hash && (found.seq === known.seq || seen !== undefined);
    return isAnother ? inFile : 0;
  }
}
