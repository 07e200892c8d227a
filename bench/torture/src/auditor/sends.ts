import { SEND_TIMEOUT_MS } from "../bridge/document.ts";
import { type Doubt, UNREAD_MS } from "./doubt.ts";
import type { Ledger } from "./ledger.ts";

/** What the bridge can know of a send, which depends on the delivery mode of the message. */
export interface Memory {
  /** Whether it still knows after it was killed that it has sent, and was not confirmed. */
  readonly outlivesKills: boolean;
  /** Whether it could take note of a confirmation. */
  readonly doubt: Doubt;
}

/** What a send and its confirmation have in common on one connection. */
type Packet = number | string;

interface Confirmation {
  readonly id: string;
  readonly at: number;
  readonly memory: Memory;
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
  readonly #memoryOf: (id: string) => Memory;
  readonly #open = new Map<Packet, { readonly id: string; readonly at: number }>();
  readonly #now: () => number;
  #recent: Confirmation[] = [];
  #doomed = false;

  constructor(ledger: Ledger, memoryOf: (id: string) => Memory, now: () => number = () => performance.now()) {
    this.#now = now;
    this.#ledger = ledger;
    this.#memoryOf = memoryOf;
  }

  begin(packet: Packet, id: string): void {
    this.#ledger.sent(id);
    // A packet identifier that is used again: its former message was given up.
    const former = this.#open.get(packet);
    if (former !== undefined) this.#ledger.doubtful(former.id);
    this.#open.set(packet, { id, at: this.#now() });
  }

  /** The target has answered; that it did not take the message proves nothing: it may have kept it. */
  end(packet: Packet, taken: boolean): void {
    const open = this.#open.get(packet);
    if (open === undefined) return;
    this.#open.delete(packet);
    const { id } = open;
    // The bridge may have given it up already: on a busy machine a confirmation takes its time, and so does reading it.
    const late = this.#now() - open.at > SEND_TIMEOUT_MS - UNREAD_MS;
    const memory = this.#memoryOf(id);
    if (!taken || late || memory.doubt.outboxFull) this.#ledger.doubtful(id);
    else this.#recent.push({ id, at: this.#now(), memory });
    if (this.#recent.length > MAX_RECENT) this.#recent = this.#recent.slice(MAX_RECENT / 2);
  }

  /** Whoever sends is about to be killed and will not remember. */
  doom(): void {
    this.#doomed = true;
  }

  /** The connection is gone. */
  interrupted(): Interruption {
    const unconfirmed = [...this.#open.values()].map(({ id }) => id).filter((id) => this.#matters(this.#memoryOf(id)));
    for (const id of unconfirmed) this.#ledger.doubtful(id);
    this.#open.clear();
    const memories = [...new Set(this.#recent.map(({ memory }) => memory))].filter((memory) => this.#matters(memory));
    const unread = memories.reduce((sum, memory) => sum + this.forget(memory), 0);
    return { unconfirmed: unconfirmed.length, unread };
  }

  /** What was confirmed just now, the bridge may not know or not have written down. Returns how much that is. */
  forget(memory: Memory): number {
    const since = memory.doubt.since();
    const its = this.#recent.filter((confirmation) => confirmation.memory === memory);
    const unread = its.filter(({ at }) => at >= since);
    for (const { id } of unread) this.#ledger.doubtful(id);
    this.#recent = this.#recent.filter((confirmation) => confirmation.memory !== memory);
    return unread.length;
  }

  /** Whether it can make anybody send again that nobody knows what was sent. */
  #matters(memory: Memory): boolean {
    return !this.#doomed || memory.outlivesKills;
  }
}
