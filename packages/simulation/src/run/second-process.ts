import type { Instances } from "./instances.ts";

/** A process that somebody starts beside the only one, on its document and its outbox. While it is wanted it is started again, as that is. */
export class SecondProcess {
  readonly #instances: Pick<Instances, "at" | "begin" | "kill" | "restart">;
  readonly #place: number;
  #isWanted = false;

  constructor(instances: Pick<Instances, "at" | "begin" | "kill" | "restart">, place: number) {
    this.#instances = instances;
    this.#place = place;
  }

  /** Whether it is that which is to begin, and nobody wants it any more. */
  isUnwanted(place: number): boolean {
    return place === this.#place && !this.#isWanted;
  }

  begin(): void {
    this.#isWanted = true;
    this.#instances.begin(this.#place);
  }

  end(): void {
    this.#isWanted = false;
    // One that reads its document yet has nothing to end.
    if (this.#instances.at(this.#place) === undefined) this.#instances.kill(this.#place);
    else this.#instances.restart(this.#place);
  }
}
