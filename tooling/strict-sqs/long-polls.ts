import type { DoubleClock } from "./clock.ts";
import type { StrictQueue } from "./queue.ts";
import { checkRange, LIMITS } from "./rules.ts";
import type { ReceivedMessage, ReceiveInput } from "./wire.ts";

/** Requests that wait for a message. They look again when something was done to a queue, or something hidden is due. */
export class LongPolls {
  readonly #clock: DoubleClock;
  readonly #waiting = new Set<() => void>();
  #closed = false;

  constructor(clock: DoubleClock) {
    this.#clock = clock;
  }

  /** One whose caller has hung up takes nothing. */
  async receive(queue: StrictQueue, input: ReceiveInput, gone: AbortSignal): Promise<readonly ReceivedMessage[]> {
    const { WaitTimeSeconds = Number(queue.attributes["ReceiveMessageWaitTimeSeconds"] ?? 0) } = input;
    checkRange("WaitTimeSeconds", WaitTimeSeconds, LIMITS.waitSeconds);
    const end = this.#seconds + WaitTimeSeconds;
    for (;;) {
      if (gone.aborted) return [];
      const messages = queue.receive(input);
      if (messages.length > 0 || this.#seconds >= end || this.#closed) return messages;
      await this.#pause(Math.min(end, queue.nextChange) - this.#seconds, gone);
    }
  }

  wake(): void {
    for (const look of this.#waiting) look();
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.wake();
  }

  get #seconds(): number {
    return this.#clock.monotonic() / 1_000;
  }

  async #pause(seconds: number, gone: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const look = (): void => ended.abort();
    this.#waiting.add(look);
    gone.addEventListener("abort", look, { once: true });
    // A little later, so that what is due is due.
    await this.#clock.delay(Math.ceil(seconds * 1_000) + 1, ended.signal).catch(() => {});
    gone.removeEventListener("abort", look);
    this.#waiting.delete(look);
  }
}
