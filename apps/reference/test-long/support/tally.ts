/** How often each of the messages 0, 1, 2… has arrived. */
export class Tally {
  readonly #times: Uint16Array;
  #different = 0;
  #all = 0;

  constructor(messages: number) {
    this.#times = new Uint16Array(messages);
  }

  /** @throws Error for what was never sent */
  add(line: string): void {
    const number = Number(line);
    const times = this.#times[number];
    if (times === undefined) throw new Error(`"${line}" was never sent`);
    if (times === 0) this.#different++;
    this.#times[number] = times + 1;
    this.#all++;
  }

  /** Messages that have arrived, each counted once. */
  get different(): number {
    return this.#different;
  }

  get repeats(): number {
    return this.#all - this.#different;
  }

  get missing(): readonly number[] {
    return Array.from(this.#times.entries()).flatMap(([number, times]) => (times === 0 ? [number] : []));
  }
}
