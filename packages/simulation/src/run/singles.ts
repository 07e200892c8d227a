import { OperationError, type RedrivenEntry } from "@bridge/core";
import { BridgeError, type DeadLetter } from "@bridge/ports";
import type { Fault } from "../plan/plan.ts";
import type { Instance } from "./instance.ts";
import type { World } from "./world.ts";

type Redrive = Extract<Fault, { readonly kind: "redrive-one" }>;

/** One operator who redrives an entry. */
interface Ask {
  readonly id: string;
  /** The message that it is of. */
  readonly number: number;
  readonly patienceMs: number;
  readonly edit: NonNullable<Redrive["edit"]>;
}

/** How long the deletion of an entry may take. */
const PATIENCE_MS = 10_000;

/** Operators that redrive and delete dead letters one by one, and believe what they are told. */
export class Singles {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  redrive(instances: readonly Instance[], { nth, callers, patienceMs, edit = "same" }: Redrive): void {
    const [id, letter] = this.#nth(nth) ?? [];
    if (id === undefined || letter === undefined) return;
    for (let caller = 0; caller < callers; caller++) {
      const instance = instances[caller % Math.max(1, instances.length)];
      instance?.asked(() => void this.#redrive(instance, { id, number: letter.number, patienceMs, edit }));
    }
  }

  delete(instance: Instance | undefined, nth: number): void {
    const [id] = this.#nth(nth) ?? [];
    if (id === undefined) return;
    instance?.asked(() => {
      const { dlq, otherDlq, trace, time } = this.#world;
      const { supervisor, owner, name } = instance;
      const patience = new AbortController();
      time.reach(owner, time.now + PATIENCE_MS, () => patience.abort(new Error("no patience")));
      trace.add(`an operator deletes ${id} at ${name}`);
      // He does not know which store the instance has open.
      for (const store of [dlq, otherDlq]) store.unwanted.add(id);
      supervisor
        .dlq()
        ?.admin?.delete([id], patience.signal)
        .then(
          (deleted) => this.#isDeleted(instance, id, deleted),
          (error: unknown) => this.#isExpected(instance, `deletes ${id}`, error, patience.signal),
        );
    });
  }

  async #redrive(instance: Instance, { id, number, patienceMs, edit }: Ask): Promise<void> {
    const { auditor, trace, time } = this.#world;
    const { supervisor, owner, name } = instance;
    const patience = new AbortController();
    time.reach(owner, time.now + patienceMs, () => patience.abort(new Error("no patience")));
    trace.add(`an operator redrives ${id} at ${name}`);
    if (edit !== "throws") auditor.letters.redriven(number);
    auditor.jobs.letters.askedFor([id]);
    const spell = auditor.jobs.letters.spellOf(id);
    try {
      const told = await supervisor.redriveEntry(id, { edit: EDITS[edit] }, patience.signal);
      if (!owner.alive) return;
      trace.add(`he who redrives ${id} is told ${told.kind}`);
      if (edit === "throws" && told.kind === "redriven")
        this.#violated(instance, `${id} is redriven, and was to be nothing`);
      this.#isTrue(instance, told, { id, number, spell });
    } catch (error) {
      if (!owner.alive) return;
      trace.add(`he who redrives ${id} is told no: ${String(error)}`);
      if (error !== NO_EDIT || edit !== "throws") this.#isExpected(instance, `redrives ${id}`, error, patience.signal);
    }
  }

  #isTrue(
    instance: Instance,
    told: RedrivenEntry,
    { id, number, spell }: Pick<Ask, "id" | "number"> & { readonly spell: number | undefined },
  ): void {
    const { auditor, plan } = this.#world;
    const isHere = spell !== undefined && spell > 0 && auditor.jobs.letters.spellOf(id) === spell;
    switch (told.kind) {
      case "redriven":
        auditor.letters.toldRedriven([id]);
        if (isHere) this.#violated(instance, `${id} is redriven, and is still there`);
        if (plan.bindings.every((binding) => !auditor.standings.of(number, binding).accepted))
          this.#violated(instance, `${id} is redriven, and no target has it`);
        break;
      case "not_delivered":
        // With another configuration it may have come from a store that is not in use.
        if (isHere && auditor.jobs.letters.wasKeptAs(told.result.envelopeId))
          this.#violated(instance, `${id} is not delivered, and is in the DLQ once more`);
        break;
      case "gone":
        if (isHere) this.#violated(instance, `${id} is said to be gone, and is still there`);
        if (auditor.jobs.letters.wasKeptAs(told.result.envelopeId))
          this.#violated(instance, `${id} is gone, and its replay is in the DLQ`);
        break;
      case "missing":
      case "quarantined":
      case "busy":
      case "not_deleted":
    }
  }

  #isDeleted(instance: Instance, id: string, deleted: ReadonlySet<string>): void {
    const { auditor } = this.#world;
    if (deleted.has(id) && (auditor.jobs.letters.spellOf(id) ?? 0) > 0 && instance.owner.alive)
      this.#violated(instance, `${id} is deleted, and is still there`);
  }

  #isExpected(instance: Instance, what: string, error: unknown, signal: AbortSignal): void {
    const isKnown =
      error instanceof OperationError || BridgeError.is(error) || (signal.aborted && error === signal.reason);
    if (!isKnown && instance.owner.alive)
      this.#world.auditor.violated(`an operator who ${what} is told ${String(error)}`);
  }

  /** Of those that are there, counted from the oldest. */
  #nth(nth: number) {
    return [...this.#world.dlq.oldest(nth)].at(-1);
  }

  #violated({ name }: Instance, words: string): void {
    this.#world.auditor.violated(`${name} tells that ${words}`);
  }
}

const NO_EDIT = new Error("the edit has a fault");

/** It says the same number. */
const ALTERED = " ".codePointAt(0) ?? 0;

const EDITS: Readonly<Record<Ask["edit"], (entry: DeadLetter) => DeadLetter>> = {
  same: (entry) => entry,
  anew: (entry) => ({ ...entry, envelope: { ...entry.envelope, payload: entry.envelope.payload.slice() } }),
  altered: (entry) => ({
    ...entry,
    envelope: { ...entry.envelope, payload: Uint8Array.from([ALTERED, ...entry.envelope.payload]) },
  }),
  throws: () => {
    throw NO_EDIT;
  },
};
