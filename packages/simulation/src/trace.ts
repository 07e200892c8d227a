import { createHash } from "node:crypto";

/** What happens at the edges, line by line. Two runs are identical if their digests are. */
export class Trace {
  readonly #hash = createHash("sha256");
  readonly #now: () => number;
  readonly #kept: string[] | undefined;

  /** `keep`: for a story. */
  constructor(now: () => number, keep: boolean) {
    this.#now = now;
    this.#kept = keep ? [] : undefined;
  }

  get lines(): readonly string[] {
    return this.#kept ?? [];
  }

  add(line: string): void {
    const whole = `${this.#now().toFixed(3)} ${line}\n`;
    this.#hash.update(whole);
    this.#kept?.push(whole);
  }

  digest(): string {
    return this.#hash.digest("hex");
  }
}
