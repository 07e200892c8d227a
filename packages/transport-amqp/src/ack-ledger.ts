import type { BridgeError } from "@bridge/ports";
import { SequenceMap, TurnWrites } from "@bridge/ports/internal";
import type { Channel } from "./connection/channel.ts";

/** What a ledger needs of its channel. */
export type AckChannel = Pick<Channel, "ack" | "nack">;

/**
 * What one channel owes its broker.
 *
 * Acknowledgements of one turn of the event loop go out together: those that leave no older message behind as one frame,
 * the others one by one. It dies with its channel: what is settled later is refused, and never reaches another channel,
 * where its tag may mean another message.
 */
export class AckLedger {
  readonly #channel: AckChannel;
  readonly #writes = new TurnWrites<number>(
    (accepted) => this.#acknowledge(accepted),
    "the channel takes no acknowledgements any more",
    setImmediate,
  );
  /** Tags that the broker waits for. It counts them upwards, in the order in which it hands out. */
  readonly #outstanding = new SequenceMap<true>();
  /** No tag below this is outstanding. */
  #oldest = 1;
  #newest = 0;
  #acknowledged = 0;

  constructor(channel: AckChannel) {
    this.#channel = channel;
  }

  /** Aborts when the channel is gone, and with it the right to settle. */
  get signal(): AbortSignal {
    return this.#writes.signal;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  get outstanding(): number {
    return this.#outstanding.size;
  }

  open(tag: number): void {
    this.#outstanding.set(tag, true);
    this.#newest = tag;
  }

  /** Resolves when the acknowledgement is written; rejects when the channel is lost before that. Once for each tag. */
  accept(tag: number): Promise<void> {
    return this.#writes.add(tag);
  }

  /** Gives a message back to its queue, unless the channel is gone: then the broker has it back already. */
  release(tag: number): void {
    if (this.signal.aborted || this.#outstanding.take(tag) === undefined) return;
    try {
      this.#channel.nack(tag);
    } catch {
      // A channel that takes nothing any more is about to give everything back.
    }
  }

  /** Writes what is accepted. */
  flush(): void {
    this.#writes.flush();
  }

  /** The channel is gone: what was not acknowledged will be handed out again. */
  lose(error: BridgeError): void {
    if (this.#writes.lose(error)) this.#outstanding.clear();
  }

  #acknowledge(accepted: readonly number[]): void {
    for (const tag of accepted) this.#outstanding.take(tag);
    while (this.#oldest <= this.#newest && !this.#outstanding.has(this.#oldest)) this.#oldest++;
    // The broker knows nothing older than these any more but what is accepted too, so the highest speaks for all.
    let last = 0;
    for (const tag of accepted) {
      if (tag > this.#oldest) this.#channel.ack(tag, false);
      else if (tag > last) last = tag;
    }
    if (last > 0) this.#channel.ack(last, true);
    this.#acknowledged += accepted.length;
  }
}
