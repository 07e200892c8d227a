import { setTimeout as sleep } from "node:timers/promises";
import type { Latency, Ledger } from "./ledger.ts";
import type { Source } from "./source.ts";

/** As much as goes through: a new message goes in when one has come out. */
export interface Flood {
  readonly messages: number;
  /** The most messages between source and sink. */
  readonly outstanding: number;
}

/** A rate that does not care what comes out. */
export interface Pace {
  readonly perSecond: number;
  readonly seconds: number;
  /** Before them, untimed. */
  readonly settleSeconds: number;
}

/** Without any arrival for this long, what is still missing is taken for lost. */
const STALLED_MS = 5_000;
const TICK_MS = 1;

/** Sends through one source and waits for what arrives. */
export class Flow {
  readonly #ledger: Ledger;
  #source: Source | undefined;
  /** Up to this many messages may be sent in all, and so many be outstanding. */
  #goal = 0;
  #window = 0;
  #progressAt = 0;
  #done: (() => void) | undefined;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  begin(source: Source): void {
    this.#source = source;
  }

  /** After a rest, before a flood or a pace. */
  async resume(): Promise<void> {
    await this.#source?.renew?.();
  }

  /** Milliseconds from the first message sent to the last one arrived. */
  async flood({ messages, outstanding }: Flood): Promise<number> {
    this.#goal = this.#ledger.sent + messages;
    this.#window = outstanding;
    const begin = performance.now();
    const finished = this.#finished();
    this.advance();
    await finished;
    return this.#progressAt - begin;
  }

  /** How long messages took at a pace, those of earlier calls too. */
  async pace({ perSecond, settleSeconds, seconds }: Pace): Promise<Latency> {
    await this.#steady(perSecond, settleSeconds);
    this.#ledger.startClock();
    await this.#steady(perSecond, seconds);
    this.#ledger.stopClock();
    return this.#ledger.latency();
  }

  /** Something has arrived, or there is room in the source: goes on as far as it can. */
  advance(): void {
    const ledger = this.#ledger;
    this.#progressAt = performance.now();
    while (ledger.sent < this.#goal && ledger.outstanding < this.#window && this.#source?.room === true) {
      this.#source.send();
    }
    if (ledger.outstanding === 0 && ledger.sent >= this.#goal) this.#done?.();
  }

  async #steady(perSecond: number, seconds: number): Promise<void> {
    const total = perSecond * seconds;
    const first = this.#ledger.sent;
    const begin = performance.now();
    while (this.#ledger.sent - first < total) {
      const due = Math.min(total, Math.ceil(((performance.now() - begin) * perSecond) / 1_000));
      while (this.#ledger.sent - first < due && this.#source?.room === true) this.#source.send();
      await sleep(TICK_MS);
    }
    this.#goal = this.#ledger.sent;
    await this.#finished();
  }

  async #finished(): Promise<void> {
    if (this.#ledger.outstanding === 0 && this.#ledger.sent >= this.#goal) return;
    this.#progressAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#done = resolve;
      timer = setInterval(() => {
        if (performance.now() - this.#progressAt > STALLED_MS) resolve();
      }, STALLED_MS / 10);
    });
    clearInterval(timer);
    this.#done = undefined;
  }
}
