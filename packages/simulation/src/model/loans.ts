import { BridgeError } from "@bridge/ports";
import type { Owner, VirtualTime } from "../time/virtual-time.ts";
import type { Handed } from "./broker.ts";

/** What a client knows of a message that is lent to it. */
interface Loan {
  readonly handed: Handed;
  until: number;
  readonly taken: AbortController;
}

export interface LoansOptions {
  readonly time: VirtualTime;
  readonly owner: Owner;
  readonly loanMs: number;
  /** Asks the broker to extend a loan in full; `answer` hears whether it still existed. */
  readonly extend: (handed: Handed, answer: (still: boolean) => void) => void;
}

/** How often within a loan a client extends it. */
const EXTENSIONS = 3;

export const OVER = new BridgeError("TIMEOUT", "the loan of the message is over");

/** The messages lent over one connection, as its client sees them. It extends them while it works on them. */
export class Loans {
  readonly #options: LoansOptions;
  readonly #held = new Map<number, Loan>();
  #next: Disposable | undefined;

  constructor(options: LoansOptions) {
    this.#options = options;
  }

  /** A message has arrived; the signal aborts when its loan is over. */
  hold(handed: Handed): AbortSignal {
    const { number } = handed;
    const { time, loanMs } = this.#options;
    // It was handed out again: nobody extended the loan in time.
    this.#held.get(number)?.taken.abort(OVER);
    const loan: Loan = { handed, until: time.now + loanMs, taken: new AbortController() };
    this.#held.set(number, loan);
    this.#later();
    return loan.taken.signal;
  }

  /** It is settled. */
  release(number: number): void {
    this.#held.delete(number);
  }

  /** Their connection is gone. */
  end(reason: unknown): void {
    this.#next?.[Symbol.dispose]();
    for (const { taken } of this.#held.values()) taken.abort(reason);
    this.#held.clear();
  }

  #later(): void {
    const { time, owner, loanMs } = this.#options;
    this.#next ??= time.at(time.now + loanMs / EXTENSIONS, () => this.#extendAll(), owner);
  }

  #extendAll(): void {
    const { time, loanMs, extend } = this.#options;
    this.#next = undefined;
    for (const [number, loan] of this.#held) {
      if (loan.until <= time.now) {
        this.#takenBack(number, loan);
        continue;
      }
      const until = time.now + loanMs;
      extend(loan.handed, (still) => {
        if (still) loan.until = until;
        else this.#takenBack(number, loan);
      });
    }
    if (this.#held.size > 0) this.#later();
  }

  #takenBack(number: number, loan: Loan): void {
    if (this.#held.get(number) === loan) this.#held.delete(number);
    loan.taken.abort(OVER);
  }
}
