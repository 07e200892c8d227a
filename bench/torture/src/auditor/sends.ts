import type { Doubt } from "./doubt.ts";
import type { Ledger } from "./ledger.ts";

interface Confirmation {
  readonly id: string;
  readonly at: number;
}

/** More confirmations than anything passes on in the time for which they can be in doubt. */
const MAX_RECENT = 20_000;

/** What was in flight when a connection to a target ended, and may be sent again for that. */
export interface Interruption {
  /** Sent and not confirmed. */
  readonly unconfirmed: number;
  /** Confirmed too late to be sure that the bridge knows it. */
  readonly unread: number;
}

/** The sends over one connection to a target, from the wire. Each ends confirmed or in doubt. */
export class Sends {
  readonly #ledger: Ledger;
  readonly #doubt: Doubt;
  readonly #open = new Map<number, string>();
  #recent: Confirmation[] = [];
  #doomed = false;

  constructor(ledger: Ledger, doubt: Doubt) {
    this.#ledger = ledger;
    this.#doubt = doubt;
  }

  begin(packet: number, id: string): void {
    this.#ledger.sent(id);
    // A packet identifier that is used again: its former message was given up.
    const former = this.#open.get(packet);
    if (former !== undefined) this.#ledger.doubtful(former);
    this.#open.set(packet, id);
  }

  /** The target has answered; that it did not take the message proves nothing: it may have kept it. */
  end(packet: number, taken: boolean): void {
    const id = this.#open.get(packet);
    if (id === undefined) return;
    this.#open.delete(packet);
    if (!taken || this.#doubt.outboxFull) this.#ledger.doubtful(id);
    else this.#recent.push({ id, at: performance.now() });
    if (this.#recent.length > MAX_RECENT) this.#recent = this.#recent.slice(MAX_RECENT / 2);
  }

  /** Whoever sends is about to be killed and will not remember. */
  doom(): void {
    this.#doomed = true;
  }

  /** The connection is gone. */
  interrupted(): Interruption {
    if (this.#doomed) return { unconfirmed: 0, unread: 0 };
    for (const id of this.#open.values()) this.#ledger.doubtful(id);
    const interruption = { unconfirmed: this.#open.size, unread: this.forgotten() };
    this.#open.clear();
    return interruption;
  }

  /** What was confirmed just now, the bridge may not know or not have written down. Returns how much that is. */
  forgotten(): number {
    const since = this.#doubt.since();
    const unread = this.#recent.filter(({ at }) => at >= since);
    for (const { id } of unread) this.#ledger.doubtful(id);
    this.#recent = [];
    return unread.length;
  }
}
