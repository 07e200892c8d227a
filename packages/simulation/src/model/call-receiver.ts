import { BridgeError, type Delivery, type Receiver, type Settlement } from "@bridge/ports";
import type { Owner } from "../time/virtual-time.ts";
import type { Answer, Callers } from "./callers.ts";
import { publication } from "./publication.ts";

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
/** Further callers are told at once that there is no room. */
const MOST_WAITING = 100;
const TAKEN_BACK = new BridgeError("CONNECTION_LOST", "the caller was told to repeat its request");

/** A request without an answer so far. */
interface Exchange {
  readonly delivery: Delivery;
  /** Answers it without a settlement, and tells whoever works on it to give up. */
  readonly takeBack: () => void;
  callerLeft: boolean;
}

/** Takes messages as requests. Answers each when its message is settled, or after a timeout. */
export class CallReceiver implements Receiver {
  readonly #callers: Callers;
  readonly #owner: Owner;
  readonly #unanswered = new Set<Exchange>();
  #inbox: Exchange[] = [];
  #wanted: ((result: IteratorResult<Delivery, undefined>) => void) | undefined;
  /** True from the opening until an iteration ends, and again while one is open. */
  #accepting = false;

  constructor(callers: Callers, owner: Owner) {
    this.#callers = callers;
    this.#owner = owner;
  }

  async open(): Promise<void> {
    this.#callers.listen(this, this.#owner);
    this.#accepting = true;
  }

  /** A request arrives. What is returned is called when its caller has left; what nobody works on yet is forgotten then. */
  take(number: number, answer: (told: Answer) => void): () => void {
    if (!this.#accepting || this.#inbox.length >= MOST_WAITING) {
      answer("unavailable");
      return () => {};
    }
    const exchange = this.#exchange(number, answer);
    this.#unanswered.add(exchange);
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted === undefined) this.#inbox.push(exchange);
    else wanted({ done: false, value: exchange.delivery });
    return () => {
      exchange.callerLeft = true;
      if (this.#inbox.includes(exchange)) exchange.takeBack();
    };
  }

  receive(signal: AbortSignal): AsyncIterable<Delivery> {
    return { [Symbol.asyncIterator]: () => this.#iterate(signal) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#callers.leave(this);
    this.#stop();
  }

  #iterate(signal: AbortSignal): AsyncIterator<Delivery, undefined> {
    const end = (): void => {
      signal.removeEventListener("abort", end);
      this.#stop();
    };
    this.#accepting = true;
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    return {
      next: () => {
        const [first] = this.#inbox.splice(0, 1);
        if (first !== undefined) return Promise.resolve({ done: false, value: first.delivery });
        if (!this.#accepting) return Promise.resolve(DONE);
        return new Promise((resolve) => (this.#wanted = resolve));
      },
      return: async () => {
        end();
        return DONE;
      },
    };
  }

  /** Takes nothing more, and tells waiting callers to ask again. */
  #stop(): void {
    this.#accepting = false;
    this.#wanted?.(DONE);
    this.#wanted = undefined;
    for (const { takeBack } of this.#unanswered) takeBack();
  }

  #exchange(number: number, answer: (told: Answer) => void): Exchange {
    const { time, trace, auditor, moments, habits, messageOf } = this.#callers.options;
    const owner = this.#owner;
    const gone = new AbortController();
    auditor.source.delivers(owner, number, gone.signal);
    let ended = false;
    let settled = false;
    const end = (): boolean => {
      if (ended) return false;
      ended = true;
      timer[Symbol.dispose]();
      this.#unanswered.delete(exchange);
      this.#inbox = this.#inbox.filter((other) => other !== exchange);
      return true;
    };
    const takeBack = (): void => {
      if (!end()) return;
      answer("unavailable");
      gone.abort(TAKEN_BACK);
    };
    const settle = (settlement: Settlement): Promise<void> | undefined => {
      if (!owner.alive) return undefined;
      trace.add(`engine settles ${number}: ${settlement.kind === "accept" ? settlement.outcome : settlement.kind}`);
      auditor.source.told(owner, number, settlement);
      auditor.source.settles(number, settlement, settled, owner);
      settled = true;
      if (!end()) return Promise.reject(TAKEN_BACK);
      answer(settlement.kind === "accept" ? "accepted" : settlement.kind === "refuse" ? "refused" : "unavailable");
      moments?.comes("settled", owner);
      return undefined;
    };
    const { id, ...message } = publication(messageOf(number));
    const delivery: Delivery = {
      message: habits.keyed ? { ...message, id, dedupId: id } : message,
      releasable: false,
      refusable: true,
      signal: gone.signal,
      begin: () => {
        if (exchange.callerLeft) takeBack();
        return !ended;
      },
      settle,
    };
    const exchange: Exchange = { delivery, takeBack, callerLeft: false };
    const timer = time.at(time.now + habits.responseTimeoutMs, takeBack, owner);
    return exchange;
  }
}
