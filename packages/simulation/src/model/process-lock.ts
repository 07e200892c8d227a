import type { Owner } from "../time/virtual-time.ts";

/** A lock on a file that several processes know. It ends with the process that has it. */
export class ProcessLock {
  #holder: Owner | undefined;

  /** Whether another living process holds it. */
  isHeldBeside(owner: Owner): boolean {
    return this.#holder !== owner && this.#holder?.alive === true;
  }

  tryHold(owner: Owner): boolean {
    if (this.isHeldBeside(owner)) return false;
    this.#holder = owner;
    return true;
  }

  letGo(owner: Owner): void {
    if (this.#holder === owner) this.#holder = undefined;
  }
}
