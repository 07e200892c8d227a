import { BridgeError } from "../errors.ts";

/**
 * What is settled in one turn of the event loop, to be written together. It dies with its connection: what comes later is
 * refused, and never reaches another connection.
 */
export class TurnWrites<Entry> {
  readonly #gone = new AbortController();
  readonly #write: (entries: readonly Entry[]) => void;
  /** What is said when a write fails. */
  readonly #refusal: string;
  readonly #atTurnEnd: (run: () => void) => void;
  #entries: Entry[] = [];
  #written: PromiseWithResolvers<void> | undefined;

  /** `atTurnEnd` runs something at the end of this turn. */
  constructor(write: (entries: readonly Entry[]) => void, refusal: string, atTurnEnd: (run: () => void) => void) {
    this.#write = write;
    this.#refusal = refusal;
    this.#atTurnEnd = atTurnEnd;
  }

  /** Aborts when the connection is gone, and with it the right to settle. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Resolves when it is written; rejects when the connection is lost before that. */
  add(entry: Entry): Promise<void> {
    if (this.signal.aborted) return Promise.reject(this.signal.reason as BridgeError);
    this.#entries.push(entry);
    if (this.#written === undefined) {
      const written = Promise.withResolvers<void>();
      written.promise.catch(() => {});
      this.#written = written;
      this.#atTurnEnd(() => this.flush());
    }
    return this.#written.promise;
  }

  /** Writes what there is. */
  flush(): void {
    const [entries, written] = [this.#entries, this.#written];
    if (written === undefined) return;
    this.#entries = [];
    this.#written = undefined;
    try {
      this.#write(entries);
      written.resolve();
    } catch (cause) {
      written.reject(new BridgeError("CONNECTION_LOST", this.#refusal, { cause }));
    }
  }

  /** The connection is gone: what is not written will be handed out again. `false` when that is known already. */
  lose(error: BridgeError): boolean {
    if (this.signal.aborted) return false;
    this.#gone.abort(error);
    this.#entries = [];
    this.#written?.reject(error);
    this.#written = undefined;
    return true;
  }
}
