import type { DeadLetter } from "@bridge/ports";
import type { Lane } from "./lane.ts";
import { isBehind } from "./lane-reader.ts";

/** Entries that have failed and are counted, and that a cursor has not passed: whoever reads them again counts none of them again. */
export class FailedAhead {
  /** As the document said, from a former owner of the job. */
  readonly #former: Set<string>;
  /** Since then, with their lanes. */
  readonly #own = new Map<string, Lane>();

  constructor(former: readonly string[]) {
    this.#former = new Set(former);
  }

  /** Of this owner's. */
  get size(): number {
    return this.#own.size;
  }

  get ids(): readonly string[] {
    return [...this.#former, ...this.#own.keys()];
  }

  /** It has failed, and its lane holds it until all before it have ended. True when it is to be counted. */
  add(id: string, lane: Lane): boolean {
    const isCounted = this.#former.delete(id);
    this.#own.set(id, lane);
    return !isCounted;
  }

  /** It has failed outside of its lane, and is counted: the lane is not to count it when it comes there. */
  counted(entry: DeadLetter, lane: Lane): void {
    const { reader } = lane;
    if (!reader.isPassed(entry.id)) this.#own.set(entry.id, lane);
    else if (reader.cursor === undefined || isBehind(entry, reader.cursor)) this.#former.add(entry.id);
  }

  forgetPassed(): void {
    for (const [id, { reader }] of this.#own) if (reader.isPassed(id)) this.#own.delete(id);
  }
}
