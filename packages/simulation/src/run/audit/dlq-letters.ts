import type { Job } from "@bridge/core";
import type { DeadLetter } from "@bridge/ports";

/** A dead letter, whether it is there or not. */
interface Letter {
  readonly routeId: string;
  /** Empty when it is of none of them alone. */
  readonly bindingId: string;
  readonly failedAt: number;
  here: boolean;
  /** Jobs may have left it out, because an operator had quarantined it. */
  wasQuarantined: boolean;
  /** An operator keeps it back. */
  isQuarantined: boolean;
  /** How often one has let it go. */
  letGo: number;
  /** Purges may have left it to an operator who had asked for it to be redriven, whatever he was told. */
  wasAskedFor: boolean;
  /** How often it has come: by a write, or out of the trash. */
  spell: number;
  /** When it came last, in the order of all that have come. */
  came: number;
}

/** The dead letters that have come into the DLQ. */
export class DlqLetters {
  readonly #letters = new Map<string, Letter>();
  readonly #keptAs = new Set<string>();
  #came = 0;

  /** How many have come. */
  get came(): number {
    return this.#came;
  }

  of(id: string): Readonly<Letter> | undefined {
    return this.#letters.get(id);
  }

  /** Whether a dead letter was written for the envelope with that id. */
  wasKeptAs(envelopeId: string): boolean {
    return this.#keptAs.has(envelopeId);
  }

  /** How often it had come into a DLQ when it came there last; 0 when it is gone, `undefined` when it was never there. */
  spellOf(id: string): number | undefined {
    const letter = this.#letters.get(id);
    return letter?.here === false ? 0 : letter?.spell;
  }

  quarantined(id: string, is: boolean): void {
    const letter = this.#letters.get(id);
    if (letter === undefined) return;
    letter.isQuarantined = is;
    if (!is) letter.letGo++;
    letter.wasQuarantined ||= is;
  }

  askedFor(ids: Iterable<string>): void {
    for (const id of ids) {
      const letter = this.#letters.get(id);
      if (letter !== undefined) letter.wasAskedFor = true;
    }
  }

  add({ id, routeId, bindingId, failedAt, envelope }: DeadLetter): void {
    this.#keptAs.add(envelope.id);
    const before = this.#letters.get(id);
    this.#letters.set(id, {
      routeId,
      bindingId,
      failedAt,
      wasQuarantined: before?.wasQuarantined ?? false,
      isQuarantined: false,
      letGo: (before?.letGo ?? 0) + 1,
      wasAskedFor: before?.wasAskedFor ?? false,
      here: true,
      spell: (before?.spell ?? 0) + 1,
      came: ++this.#came,
    });
  }

  left(id: string): void {
    const letter = this.#letters.get(id);
    if (letter !== undefined) letter.here = false;
  }

  /** It has come out of the trash. */
  back(id: string): void {
    const letter = this.#letters.get(id);
    if (letter === undefined) return;
    letter.here = true;
    letter.spell++;
    letter.came = ++this.#came;
  }

  /** Those that are there and that a job is for, each with its spell, and apart from them those that are kept back from it. */
  setOf(
    job: Pick<Job, "kind" | "createdAt" | "query">,
  ): Readonly<Record<"set" | "heldBack", ReadonlyMap<string, number>>> {
    const set = new Map<string, number>();
    const heldBack = new Map<string, number>();
    for (const [id, letter] of this.#letters)
      if (letter.here && isOf(job, letter))
        (job.kind === "redrive" && letter.isQuarantined ? heldBack : set).set(id, letter.spell);
    return { set, heldBack };
  }

  /** Those that have come since then and count as older than the job, each with its spell: of clocks that differ. */
  joined(job: Pick<Job, "createdAt" | "query">, since: number): ReadonlyMap<string, number> {
    const joined = new Map<string, number>();
    for (const [id, letter] of this.#letters)
      if (letter.came > since && isOf(job, letter)) joined.set(id, letter.spell);
    return joined;
  }
}

function isOf({ createdAt, query }: Pick<Job, "createdAt" | "query">, { failedAt, routeId }: Letter): boolean {
  return failedAt < createdAt && routeId === (query.routeId ?? routeId);
}
