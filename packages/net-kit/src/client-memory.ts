import { Slots } from "@bridge/ports/internal";
import { ByteRoom } from "./byte-room.ts";

/** A connection for which the process keeps bytes. */
export interface Holder {
  /** Ends it at once, so that nothing is kept for it any more. */
  cut(): void;
}

const MEBIBYTE = 1_048_576;
/** Answers that have room share this part of the limit, so that they leave some for those who have none. */
const ROOM_PART = 0.5;

/**
 * What is kept for clients: answers that they have not taken, and requests that wait behind these. Above the limit the
 * connection for which most is kept is cut, and so on until there is room, so that those who take their answers keep
 * theirs; the only one left stays, for one answer may be larger than the limit.
 *
 * An answer that has {@link room} is not cut for others.
 */
export class ClientMemory {
  readonly limit: number;
  readonly #kept = new Map<Holder, number>();
  readonly #answers: ByteRoom;
  readonly #large = new Slots(1);
  #bytes = 0;

  constructor(limit: number) {
    this.limit = limit;
    this.#answers = new ByteRoom(limit * ROOM_PART);
  }

  /** Without the one answer that is beside the limit. */
  get bytes(): number {
    return this.#bytes + this.#answers.taken;
  }

  /** From now on, `bytes` are kept for `holder`. */
  keep(holder: Holder, bytes: number): void {
    const before = this.#kept.get(holder) ?? 0;
    if (before === bytes) return;
    this.#bytes += bytes - before;
    if (bytes === 0) this.#kept.delete(holder);
    else this.#kept.set(holder, bytes);
    this.#cutToLimit();
  }

  /**
   * Room for an answer of so many bytes, which is made and of which nothing was sent: half of the limit is for such answers, and
   * a larger one is beside the limit, one at a time. Resolves when there is room; what it resolves to ends that. Rejects with the
   * reason of `signal`.
   */
  async room(bytes: number, signal: AbortSignal): Promise<Disposable> {
    if (bytes > this.#answers.size) return this.#large.take(signal);
    const room = await this.#answers.take(bytes, signal);
    this.#cutToLimit();
    return room;
  }

  #cutToLimit(): void {
    while (this.bytes > this.limit && this.#kept.size > 1) this.#cutLargest();
  }

  #cutLargest(): void {
    const largest = [...this.#kept].reduce((most, next) => (next[1] > most[1] ? next : most));
    const [holder] = largest;
    this.keep(holder, 0);
    holder.cut();
  }
}

/** That of the listeners of this process, all of them together. */
export const processClientMemory = new ClientMemory(16 * MEBIBYTE);
