/** A connection for which the process keeps bytes. */
export interface Holder {
  /** Ends it at once, so that nothing is kept for it any more. */
  cut(): void;
}

const MEBIBYTE = 1_048_576;

/**
 * What is kept for clients: answers that they have not taken, and requests that wait behind these. Above the limit the
 * connection for which most is kept is cut, and so on until there is room, so that those who take their answers keep
 * theirs; the only one left stays, for one answer may be larger than the limit.
 */
export class ClientMemory {
  readonly limit: number;
  readonly #kept = new Map<Holder, number>();
  #bytes = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** From now on, `bytes` are kept for `holder`. */
  keep(holder: Holder, bytes: number): void {
    const before = this.#kept.get(holder) ?? 0;
    if (before === bytes) return;
    this.#bytes += bytes - before;
    if (bytes === 0) this.#kept.delete(holder);
    else this.#kept.set(holder, bytes);
    while (this.#bytes > this.limit && this.#kept.size > 1) this.#cutLargest();
  }

  #cutLargest(): void {
    let largest: Holder | undefined;
    let most = 0;
    for (const [holder, bytes] of this.#kept) if (bytes > most) [largest, most] = [holder, bytes];
    if (largest === undefined) return;
    this.keep(largest, 0);
    largest.cut();
  }
}

/** That of the listeners of this process, all of them together. */
export const processClientMemory = new ClientMemory(16 * MEBIBYTE);
