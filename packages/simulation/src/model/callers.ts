import type { Dice } from "../dice.ts";
import type { CallerHabits, PlannedMessage } from "../plan/plan.ts";
import type { Auditor } from "../run/auditor.ts";
import type { Moments } from "../run/moments.ts";
import { openAgain, type Owner, type VirtualTime } from "../time/virtual-time.ts";
import type { Trace } from "../trace.ts";
import type { CallReceiver } from "./call-receiver.ts";

export interface CallersOptions {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly trace: Trace;
  readonly auditor: Auditor;
  readonly moments?: Pick<Moments, "comes">;
  readonly habits: CallerHabits;
  readonly messageOf: (number: number) => PlannedMessage;
}

/** The answer to a caller: 202, 422, or anything after which it may repeat its request. */
export type Answer = "accepted" | "refused" | "unavailable";

/** The longest pause before a caller repeats its request. */
const PAUSE_MS = 10_000;

/**
 * Clients that call a bridge over HTTP, each with one message, at any instance that listens. A caller waits for the
 * answer. Unless it is accepted in time, the caller repeats its request or gives up. Nobody else keeps the message.
 */
export class Callers {
  readonly options: CallersOptions;
  readonly #listening = new Map<CallReceiver, Owner>();
  /** That have neither been told that their message is taken or refused, nor given up. */
  readonly #waiting = new Set<number>();

  constructor(options: CallersOptions) {
    this.options = options;
  }

  get empty(): boolean {
    return this.#waiting.size === 0;
  }

  listen(receiver: CallReceiver, owner: Owner): void {
    this.#listening.set(receiver, owner);
  }

  leave(receiver: CallReceiver): void {
    this.#listening.delete(receiver);
  }

  publish(number: number): void {
    const { auditor, trace } = this.options;
    trace.add(`a caller has ${number}`);
    auditor.source.published(number);
    this.#waiting.add(number);
    this.#call(number, 1);
  }

  #call(number: number, tries: number): void {
    const { time, dice, habits, trace } = this.options;
    let over = false;
    let leaves: (() => void) | undefined;
    const end = (told: Answer | "nothing"): void => {
      if (over) return;
      over = true;
      leaves?.();
      trace.add(`the caller of ${number} is told ${told}`);
      this.#told(number, tries, told);
    };
    time.at(time.now + habits.patienceMs, () => end("nothing"));
    const there = [...this.#listening].filter(([, { alive }]) => alive);
    const [receiver, owner] = there[dice.whole(0, there.length - 1)] ?? [];
    const takes = (): number => dice.next() * habits.latencyMs;
    if (receiver === undefined || owner === undefined)
      return void time.at(time.now + takes(), () => end("unavailable"));
    // What is said to one that is dead, or while nothing gets through, is not answered.
    const answer = (told: Answer): void =>
      void time.at(Math.max(openAgain(owner, "broker", "<"), time.now + takes()), () => end(told));
    time.reach(owner, Math.max(openAgain(owner, "broker", ">"), time.now + takes()), () => {
      this.options.auditor.source.handedOut(number);
      // Its target may have it from an earlier try.
      if (tries > 1) this.options.auditor.source.handedBack(number);
      const left = receiver.take(number, answer);
      leaves = () => time.reach(owner, time.now + takes(), left);
      if (over) left();
    });
  }

  #told(number: number, tries: number, told: Answer | "nothing"): void {
    const { time, dice, habits, auditor } = this.options;
    const givesUp = habits.repeats !== undefined && tries > habits.repeats;
    if (told === "accepted") auditor.source.forgotten(number);
    else if (told === "refused" || givesUp) auditor.source.givenUp(number);
    else return void time.at(time.now + dice.next() * PAUSE_MS, () => this.#call(number, tries + 1));
    this.#waiting.delete(number);
  }
}
