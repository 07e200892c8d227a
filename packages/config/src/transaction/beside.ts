import type { ConfigStore, Probation, ProbationBeside, Reversal } from "@bridge/ports";
import { Serial } from "@bridge/ports/internal";
import { bounded } from "./commit-parts.ts";
import { type LeftBeside, leftBeside } from "./left-beside.ts";
import type { SettlingSeams } from "./left-probation.ts";
import { overdue, type LeftElsewhere, probationBeside } from "./probation-elsewhere.ts";
import type { Revert } from "./on-probation.ts";
import { messageOf } from "./probation-refusals.ts";
import { timeLeft } from "./time-left.ts";

/** How often. Whoever writes the same document begins something without a word to anybody. */
const LOOK_MS = 5_000;

interface Parts extends SettlingSeams {
  readonly store: ConfigStore;
  /** Nobody else brings a configuration into force meanwhile. */
  readonly exclusively: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Whoever has one change on probation at a time. */
interface Heir {
  /** Whether it has none. */
  readonly isFree: () => boolean;
  /** Has it from then on, and takes it back; nothing is awaited in between. */
  readonly takeBack: (left: LeftBeside, reversal: Reversal) => Promise<Revert | undefined>;
}

/**
 * Looks whether a process that writes the same document has left a change on probation: it may not come back, and
 * nobody else would take that change back. One that has ended in order is given the time that it would have when it
 * comes back.
 */
export class Beside implements Disposable {
  readonly #parts: Parts;
  readonly #heir: Heir;
  /** Of those who take it back. */
  readonly #turns = new Serial();
  readonly #timer: Disposable | undefined;
  #seen: Probation | undefined;
  /** When that was to end which another hand was seen to have replaced: it is told once, also where its note stays. */
  #replaced: number | undefined;
  /** Of one that has ended in order: until when it may come back, on the clock that never jumps. */
  #awaited: { readonly confirmBy: number; readonly until: number } | undefined;
  /** That nobody can read whether something is on probation, since when, and what helps. */
  #unknown: LeftElsewhere | undefined;
  /** Why it could not be taken back at the last look. */
  #fault: string | undefined;
  #looking = false;

  constructor(parts: Parts, heir: Heir) {
    this.#parts = parts;
    this.#heir = heir;
    if (parts.store.probations?.elsewhere !== undefined)
      this.#timer = parts.clock.every(LOOK_MS, () => void this.#look());
  }

  /** What was on probation at the last look, as far as it is there for too long. */
  get left(): LeftElsewhere | undefined {
    const { clock, store } = this.#parts;
    if (this.#seen === undefined) return this.#unknown;
    const { confirmBy } = this.#seen;
    const told = probationBeside(this.#seen, store.source);
    if (this.#fault === undefined) return overdue({ confirmBy, told }, clock);
    return { confirmBy, told: `${told}; it could not be taken back: ${this.#fault}` };
  }

  /** Takes back what was left of `version`; `undefined` when nothing was, or the heir has something else. */
  takeBack(version: number, reversal: Reversal): Promise<Revert | undefined> {
    return this.#turns.run(async () => {
      if (!this.#heir.isFree()) return undefined;
      const { store, exclusively } = this.#parts;
      const left = await exclusively(() => leftBeside(version, store, this.#parts));
      return left && this.#heir.takeBack(left, reversal);
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const beside = await this.#noted();
      if (beside?.replaced) await this.#tellReplaced(beside.probation);
      const reversal = beside && this.#isOver(beside);
      if (beside !== undefined && reversal !== undefined) await this.takeBack(beside.probation.version, reversal);
      this.#fault = undefined;
    } catch (error) {
      // What is the heir's is tried again by it, which says so.
      if (this.#heir.isFree()) this.#failed(messageOf(error));
    } finally {
      this.#looking = false;
    }
  }

  async #noted(): Promise<ProbationBeside | undefined> {
    const { store, clock } = this.#parts;
    try {
      const beside = await bounded(clock, async (signal) => store.probations?.elsewhere?.(signal));
      this.#seen = beside?.replaced ? undefined : beside?.probation;
      this.#unknown = undefined;
      return beside;
    } catch (error) {
      const told = `whether a version of ${store.source} is on probation is not known: ${messageOf(error)}`;
      this.#seen = undefined;
      this.#unknown = { confirmBy: this.#unknown?.confirmBy ?? clock.now(), told };
      return undefined;
    }
  }

  async #tellReplaced({ version, confirmBy }: Probation): Promise<void> {
    if (this.#replaced === confirmBy || !this.#heir.isFree()) return;
    await this.takeBack(version, { why: "process_ended" });
    this.#replaced = confirmBy;
  }

  /** Why it is to be taken back, unless its process runs. */
  #isOver({ probation, orderly, runs, replaced }: ProbationBeside): Reversal | undefined {
    const { clock } = this.#parts;
    if (replaced) return undefined;
    if (!orderly || this.#awaited?.confirmBy !== probation.confirmBy) this.#awaited = undefined;
    if (runs) return undefined;
    if (!orderly) return { why: "process_ended" };
    const now = clock.monotonic();
    this.#awaited ??= { confirmBy: probation.confirmBy, until: now + timeLeft(probation, clock.now()) };
    return now < this.#awaited.until ? undefined : { why: "not_confirmed" };
  }

  /** It is tried again at the next look, and said once. */
  #failed(fault: string): void {
    if (fault !== this.#fault)
      this.#parts.logger.error("what another process has left on probation cannot be taken back", {
        config_version: this.#seen?.version,
        error: fault,
      });
    this.#fault = fault;
  }
}
