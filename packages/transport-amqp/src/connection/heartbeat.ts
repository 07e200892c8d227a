/** Says something when nothing else is said, and notices a broker that does not. */
export class Heartbeat implements Disposable {
  /** Set by whoever writes. */
  hasSent = false;
  /** Set by whoever reads. */
  hasReceived = false;
  #silent = 0;
  readonly #beating: NodeJS.Timeout;
  readonly #listening: NodeJS.Timeout;

  /** `seconds` without a word are half of what either side bears. */
  constructor(seconds: number, beat: () => void, silent: () => void) {
    const interval = seconds * 1_000;
    this.#beating = setInterval(() => {
      if (!this.hasSent) beat();
      this.hasSent = false;
    }, interval / 2);
    this.#listening = setInterval(() => {
      this.#silent = this.hasReceived ? 0 : this.#silent + 1;
      this.hasReceived = false;
      if (this.#silent >= 2) silent();
    }, interval);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#beating);
    clearInterval(this.#listening);
  }
}
