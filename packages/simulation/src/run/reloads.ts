import type { BridgeConfig, BridgeDocument } from "@bridge/config";
import { OperationError } from "@bridge/core";
import { type Change, changed, isStructural } from "../plan/change.ts";
import type { Fault } from "../plan/plan.ts";
import type { Instance } from "./instance.ts";
import type { World } from "./world.ts";

/** An operator whose change back is not in force asks again after this. */
const AGAIN_MS = 3_000;
const GIVEN_UP = "waited for no longer";

interface Place {
  /** What is asked for or in force, at most one of those that concern where messages go through, and one of the others. */
  readonly changes: Set<Change>;
  /** Changes that wait for their answer, of whom they were asked. */
  readonly asked: Set<Asked>;
}

interface Asked {
  readonly of: Instance;
  /** Whether it takes something back. */
  readonly back: boolean;
}

/** Operators that change the configurations of instances, and afterwards change them back until that is in force. */
export class Reloads {
  readonly #world: World;
  readonly #at: (place: number) => Instance | undefined;
  readonly #places: readonly Place[];

  constructor(world: World, at: (place: number) => Instance | undefined) {
    this.#world = world;
    this.#at = at;
    this.#places = Array.from({ length: world.plan.instances ?? 1 }, () => ({
      changes: new Set<Change>(),
      asked: new Set<Asked>(),
    }));
  }

  /** Whether every instance has its own document again. */
  get done(): boolean {
    return this.#places.every(({ changes }) => changes.size === 0);
  }

  /**
   * With what a process begins there: what an operator has asked for counts as soon as it is not refused, and what was
   * changed counts until the change back is in force. So the records that one before it has left are within reach at last.
   */
  documentAt(place: number): BridgeDocument {
    // A second process is started on the document of the first one.
    return this.#documentWith([...((this.#places[place] ?? this.#places[0])?.changes ?? [])]);
  }

  /** Whether a change there concerns where messages go through. */
  redirects(place: number): boolean {
    return [...(this.#places[place]?.changes ?? [])].some(isStructural);
  }

  /** Changes the document of an instance; what is returned begins to change it back. */
  begin(number: number, change: Change): () => void {
    const place = this.#places[number];
    const instance = this.#at(number);
    if (place === undefined || instance === undefined) return () => {};
    const { changes } = place;
    const taken = [...changes].some((other) => isStructural(other) === isStructural(change));
    // Of what is being taken back nobody knows yet whether it still counts.
    if (taken || open(place).some(({ back }) => back)) return () => {};
    changes.add(change);
    this.#ask(place, instance, [...changes], false, (error) => {
      // Whoever starts the next process does not start it with what was refused.
      if (error !== undefined) changes.delete(change);
    });
    return () => this.#back(number, change);
  }

  /** Somebody asks there for what is wanted by now, unless it is being taken back: then nobody knows what that is. */
  hurry(number: number, { asks, everyMs, patienceMs }: Extract<Fault, { readonly kind: "hurry" }>): void {
    const { time } = this.#world;
    for (let nth = 0; nth < asks; nth++)
      time.at(time.now + nth * everyMs, () => {
        const place = this.#places[number];
        const instance = this.#at(number);
        if (place === undefined || instance === undefined || open(place).some(({ back }) => back)) return;
        this.#ask(place, instance, [...place.changes], false, () => {}, patienceMs);
      });
  }

  /** Asks until it is in force, each time when all that was asked before is answered. */
  #back(number: number, change: Change): void {
    const { time } = this.#world;
    const place = this.#places[number];
    if (place?.changes.has(change) !== true) return;
    time.at(time.now + AGAIN_MS, () => this.#back(number, change));
    const instance = this.#at(number);
    if (instance === undefined || open(place).length > 0) return;
    const rest = [...place.changes].filter((other) => other !== change);
    this.#ask(place, instance, rest, true, (error, config) => {
      const isStranding = error instanceof OperationError && error.kind === "stranding";
      instance.refused = isStranding ? error.message : undefined;
      if (isStranding) this.#world.otherDlq.discardAll(instance.owner);
      // One that was accepted may still be refused.
      const { supervisor } = instance;
      if (supervisor.state().kind !== "swapping" && supervisor.config() === config) place.changes.delete(change);
    });
  }

  #ask(
    place: Place,
    instance: Instance,
    changes: readonly Change[],
    back: boolean,
    answered: (error: unknown, config: BridgeConfig) => void,
    patienceMs?: number,
  ): void {
    const { trace, time } = this.#world;
    const { supervisor, owner } = instance;
    const config = instance.configOf(this.#documentWith(changes));
    const alone = open(place).length === 0;
    const asked: Asked = { of: instance, back };
    place.asked.add(asked);
    instance.asked(() => {
      if (changes.some(isStructural)) owner.paused = false;
      const before = supervisor.config();
      const judge = this.#judge(instance, config, alone && supervisor.state().kind === "running");
      const end = (told: string, error: unknown): void => {
        place.asked.delete(asked);
        if (!owner.alive) return;
        trace.add(`the change of ${instance.name} is ${told}`);
        judge(told, before);
        answered(error, config);
      };
      const patience = new AbortController();
      if (patienceMs !== undefined)
        time.reach(owner, time.now + patienceMs, () => patience.abort(new Error("no patience")));
      supervisor.apply(config, patience.signal).then(
        (answer) => end(answer, undefined),
        (error: unknown) =>
          patience.signal.aborted && error === patience.signal.reason
            ? end(GIVEN_UP, undefined)
            : end(error instanceof OperationError ? error.kind : `no change: ${String(error)}`, error),
      );
    });
  }

  /** Holds the answer to a change that nothing else goes on beside against what was there before. */
  #judge(
    { supervisor, name }: Instance,
    to: BridgeConfig,
    alone: boolean,
  ): (told: string, before: BridgeConfig) => void {
    const { auditor, outbox, time } = this.#world;
    const since = time.now;
    return (told, before) => {
      if (told === "conflict" && supervisor.beyondRecovery()) return;
      if (told !== "applied" && told !== "accepted" && told !== "stranding" && told !== "failed" && told !== GIVEN_UP)
        auditor.violated(`a change of ${name} was answered with ${told}`);
      if (!alone) return;
      if ((told === "stranding" || told === "failed") && supervisor.config() !== before)
        auditor.violated(`a change of ${name} was refused, and yet its configuration is another one`);
      if (told !== "applied") return;
      const [drained, willBe] = [drainedBy(before), new Set(drainedBy(to))];
      const left = drained.filter((routeId) => !willBe.has(routeId));
      for (const number of outbox.waiting(left, since))
        if (auditor.source.isSettled(number))
          auditor.violated(`a change of ${name} has left message ${number} behind in the outbox`);
    };
  }

  /** As the plan has it, with these changes: those of numbers first, since the others may take away what they are of. */
  #documentWith(changes: readonly Change[]): BridgeDocument {
    const { document } = this.#world.plan;
    return changed(
      document,
      [...changes].toSorted((a, b) => Number(isStructural(a)) - Number(isStructural(b))),
    );
  }
}

/** The routes that send what they have in the outbox. */
function drainedBy({ routes }: BridgeConfig): readonly string[] {
  return routes.filter(({ deliveryMode }) => deliveryMode === "shared_outbox").map(({ id }) => id);
}

/** What is not answered yet, by those who still can. */
function open({ asked }: Place): readonly Asked[] {
  return [...asked].filter(({ of }) => of.owner.alive);
}
