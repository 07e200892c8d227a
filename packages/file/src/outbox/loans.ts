import type { ClaimEnd, Clock, Random } from "@bridge/ports";
import type { Entry } from "./entry.ts";
import type { Lane } from "./lane.ts";

/** A record that somebody has. They live in memory: only this process lends, and a crash ends them all. */
export interface Loan {
  readonly entry: Entry;
  readonly lane: Lane;
  /** The record's number, and what nobody else has. */
  readonly token: string;
  /** Monotonic milliseconds. */
  readonly lapsesAt: number;
  /** The record may be lent to somebody else; until then the one who has it may still end the loan. */
  lapsed: boolean;
  /** While its end is being written. */
  ending: Promise<boolean> | undefined;
}

/** Who has which record. */
export class Loans {
  readonly #clock: Clock;
  readonly #random: Random;
  /** By the number of the record, which costs a tenth of what its id would: V8 makes an atom of each new string. */
  readonly #byNumber = new Map<number, Loan>();
  /** No loan lapses before that. */
  #nextLapse = Infinity;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  lend(entry: Entry, lane: Lane, loanMs: number): Loan {
    const lapsesAt = this.#clock.monotonic() + loanMs;
    const token = `${entry.number} ${this.#random.id()}`;
    const loan: Loan = { entry, lane, token, lapsesAt, lapsed: false, ending: undefined };
    this.#byNumber.set(entry.number, loan);
    this.#nextLapse = Math.min(this.#nextLapse, lapsesAt);
    return loan;
  }

  of(number: number): Loan | undefined {
    return this.#byNumber.get(number);
  }

  /** The loan that was given under this token, unless somebody else has the record by now. */
  given({ id, token }: Pick<ClaimEnd, "id" | "token">): Loan | undefined {
    const loan = this.#byNumber.get(Number.parseInt(token, 10));
    return loan?.token === token && loan.entry.id === id ? loan : undefined;
  }

  /** Nobody else gets the record while its end is being written. */
  begin(loan: Loan, ending: Promise<boolean>): void {
    loan.ending = ending;
    loan.lapsed = false;
    loan.entry.place = "lent";
  }

  /** The end was not written: the loan goes on for as long as it would have. */
  resume(loan: Loan): void {
    loan.ending = undefined;
    this.#nextLapse = Math.min(this.#nextLapse, loan.lapsesAt);
  }

  end(loan: Loan): void {
    this.#byNumber.delete(loan.entry.number);
  }

  /** Gives back what was lent for too long. */
  lapse(): void {
    const monotonic = this.#clock.monotonic();
    if (monotonic < this.#nextLapse) return;
    this.#nextLapse = Infinity;
    for (const loan of this.#byNumber.values()) {
      if (loan.lapsed || loan.ending !== undefined) continue;
      if (loan.lapsesAt > monotonic) {
        this.#nextLapse = Math.min(this.#nextLapse, loan.lapsesAt);
        continue;
      }
      const { entry, lane } = loan;
      loan.lapsed = true;
      lane.queue.giveBack(entry, monotonic);
    }
  }
}
