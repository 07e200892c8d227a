import type { Dice } from "../dice.ts";
import type { Owner, VirtualTime } from "../time/virtual-time.ts";

/** One direction of a connection: what goes in comes out later, in order. */
export class Way {
  readonly #time: VirtualTime;
  readonly #dice: Dice;
  readonly #latencyMs: number;
  readonly #owner: Owner | undefined;
  readonly #openAgain: () => number;
  #last = 0;

  /** Nothing arrives for a dead owner. `openAgain`: until when nothing sent now gets through. */
  constructor(time: VirtualTime, dice: Dice, latencyMs: number, owner?: Owner, openAgain = () => 0) {
    this.#time = time;
    this.#dice = dice;
    this.#latencyMs = latencyMs;
    this.#owner = owner;
    this.#openAgain = openAgain;
  }

  go(arrive: () => void): void {
    const takes = Math.round(this.#dice.next() * this.#latencyMs * 1_000) / 1_000;
    this.#last = Math.max(this.#last, this.#time.now + takes, this.#openAgain());
    if (this.#owner === undefined) this.#time.at(this.#last, arrive);
    else this.#time.reach(this.#owner, this.#last, arrive);
  }
}
