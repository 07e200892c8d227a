import { type Fault, type Moment, UPON_WITHIN_MS } from "../plan/plan.ts";
import type { Owner, VirtualTime } from "../time/virtual-time.ts";

interface Awaited {
  readonly moment: Moment;
  /** The instance that the fault concerns, as far as there is one. */
  readonly of: () => Owner | undefined;
  readonly begin: () => void;
}

/** Tells when an edge does what an instance has asked of it, which does not know that yet: some faults wait for that. */
export class Moments {
  readonly #time: VirtualTime;
  readonly #awaited = new Set<Awaited>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** It begins now, or upon its moment, or, when that does not come, never. */
  begins({ upon }: Fault, of: Awaited["of"], begin: () => void): void {
    if (upon === undefined) return begin();
    const { now } = this.#time;
    const { moment, afterMs } = upon;
    const awaited: Awaited = { moment, of, begin: () => this.#time.at(this.#time.now + afterMs, begin) };
    this.#awaited.add(awaited);
    this.#time.at(now + UPON_WITHIN_MS, () => void this.#awaited.delete(awaited));
  }

  /** An edge does it for an instance. */
  comes(moment: Moment, by: Owner): void {
    for (const awaited of this.#awaited) {
      if (awaited.moment !== moment || awaited.of() !== by) continue;
      this.#awaited.delete(awaited);
      awaited.begin();
    }
  }
}
