import type { Settlement, SourceMessage } from "@bridge/ports";
import type { Dice } from "../dice.ts";
import type { BrokerHabits } from "../plan/plan.ts";
import type { VirtualTime } from "../time/virtual-time.ts";
import type { Trace } from "../trace.ts";
import type { Auditor } from "../run/auditor.ts";
import type { Moments } from "../run/moments.ts";

/** A message that a broker holds. */
export interface Held {
  readonly number: number;
  /** How often it was handed out. */
  receives: number;
  /** When its loan ends; only for a broker that lends. */
  lentUntil: number;
}

/** One handout of a message. */
export type Handed = Readonly<Pick<Held, "number" | "receives">>;

/** A connected client, as the broker sees it. */
export interface Consumer {
  /** How many unacknowledged messages it takes. */
  readonly window: number;
  /** Whether it replaces the connected client. */
  readonly exclusive: boolean;
  /** Its connection is dropped. */
  readonly cut: (noticedAfterMs: number) => void;
  readonly unacked: Map<number, Held>;
  /** A message is on its way to the client. */
  readonly hand: (held: Held, receives: number) => void;
}

export interface BrokerOptions {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly trace: Trace;
  readonly auditor: Auditor;
  readonly moments?: Pick<Moments, "comes">;
  readonly habits: BrokerHabits;
  readonly messageOf: (number: number) => SourceMessage;
}

/** By then a client has noticed that another replaced it. */
const TAKEOVER_MS = 500;

/**
 * A queue as in AMQP: hands out as many messages as the window allows, forgets acknowledged ones, and first of all
 * hands out again what a lost connection leaves unacknowledged. Or one that lends, as JetStream and SQS do: what a lost
 * connection leaves comes again when its loan is over, in no order. Or one that resumes sessions, as Mosquitto does: a
 * client that reconnects gets everything that was left, and the window applies to new messages only.
 */
export class Broker {
  down = false;
  readonly options: BrokerOptions;
  readonly #ready: Held[] = [];
  readonly #consumers = new Set<Consumer>();
  /** Lost connections whose messages are still on loan. */
  readonly #left = new Set<Consumer>();
  #delayed = 0;

  constructor(options: BrokerOptions) {
    this.options = options;
  }

  /** Whether it holds nothing any more. */
  get empty(): boolean {
    return this.#ready.length === 0 && this.#delayed === 0 && this.consumed === 0;
  }

  /** How many messages are handed out and not acknowledged. */
  get consumed(): number {
    let unacked = 0;
    for (const consumer of [...this.#consumers, ...this.#left]) unacked += consumer.unacked.size;
    return unacked;
  }

  get connections(): number {
    return this.#consumers.size;
  }

  publish(number: number): void {
    this.options.trace.add(`source publishes ${number}`);
    this.options.auditor.source.published(number);
    this.#ready.push({ number, receives: 0, lentUntil: 0 });
    this.#handOut();
  }

  attach(consumer: Consumer): void {
    if (consumer.exclusive) for (const other of this.#consumers) other.cut(this.options.dice.next() * TAKEOVER_MS);
    this.#consumers.add(consumer);
    if (this.options.habits.resumes === true) this.#resume(consumer);
    this.#handOut();
  }

  /** The connection is lost, and with it settlements on the way. */
  lose(consumer: Consumer): void {
    if (this.options.habits.loanMs === undefined) return this.detach(consumer);
    if (this.#consumers.delete(consumer) && consumer.unacked.size > 0) this.#left.add(consumer);
  }

  /** The connection is closed, and its unacknowledged messages return. */
  detach(consumer: Consumer): void {
    if (!this.#consumers.delete(consumer)) return;
    const back = [...consumer.unacked.values()].toSorted((a, b) => a.number - b.number);
    for (const { number } of back) this.options.auditor.source.handedBack(number);
    this.#ready.unshift(...back);
    consumer.unacked.clear();
    this.#handOut();
  }

  /** A client's settlement arrives. Returns whether the broker still knows the handout. */
  settled(consumer: Consumer, { number, receives }: Handed, settlement: Settlement): boolean {
    const held = consumer.unacked.get(number);
    if (held?.receives !== receives || !this.#consumers.has(consumer)) return false;
    consumer.unacked.delete(number);
    this.options.trace.add(`broker hears ${settlement.kind} of ${number}`);
    if (settlement.kind === "release") this.#later(held, settlement.delayMs);
    else this.options.auditor.source.forgotten(number);
    this.#handOut();
    return true;
  }

  /** A client that still works on a message extends its loan. Returns whether it still had the loan. */
  extend(consumer: Consumer, { number, receives }: Handed): boolean {
    const held = consumer.unacked.get(number);
    if (held?.receives !== receives || !this.#consumers.has(consumer)) return false;
    this.#lend(consumer, held);
    return true;
  }

  /** Hands out again, at once, everything it had before, even beyond its window. */
  #resume(consumer: Consumer): void {
    const all = this.#ready.splice(0);
    this.#ready.push(...all.filter(({ receives }) => receives === 0));
    for (const held of all) if (held.receives > 0) this.#give(consumer, held);
  }

  #give(consumer: Consumer, held: Held): void {
    held.receives++;
    this.options.auditor.source.handedOut(held.number);
    consumer.unacked.set(held.number, held);
    this.#lend(consumer, held);
    consumer.hand(held, held.receives);
  }

  #lend(consumer: Consumer, held: Held): void {
    const { time, dice, trace, auditor, habits } = this.options;
    if (habits.loanMs === undefined) return;
    const { receives, number } = held;
    const until = (held.lentUntil = time.now + habits.loanMs);
    time.at(until, () => {
      if (consumer.unacked.get(number) !== held || held.receives !== receives || held.lentUntil !== until) return;
      consumer.unacked.delete(number);
      if (consumer.unacked.size === 0) this.#left.delete(consumer);
      trace.add(`broker's loan of ${number} is over`);
      auditor.source.handedBack(number);
      this.#ready.splice(dice.whole(0, this.#ready.length), 0, held);
      this.#handOut();
    });
  }

  #later(held: Held, delayMs: number): void {
    const { time } = this.options;
    this.#delayed++;
    time.at(time.now + delayMs, () => {
      this.#delayed--;
      this.#ready.push(held);
      this.#handOut();
    });
  }

  /** In turn, to each client with room. */
  #handOut(): void {
    while (this.#ready.length > 0) {
      const consumer = [...this.#consumers].find(({ unacked, window }) => unacked.size < window);
      const held = consumer && this.#ready.shift();
      if (consumer === undefined || held === undefined) return;
      if (this.#consumers.delete(consumer)) this.#consumers.add(consumer);
      this.#give(consumer, held);
    }
  }
}
