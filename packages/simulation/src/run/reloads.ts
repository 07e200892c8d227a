import type { BridgeConfig, BridgeDocument } from "@bridge/config";
import { OperationError } from "@bridge/core";
import { type Change, changed, isStructural } from "../plan/change.ts";
import type { Instance } from "./instance.ts";
import type { World } from "./world.ts";

/** An operator whose change back is not in force asks again after this. */
const AGAIN_MS = 3_000;

interface Place {
  /** What is asked for or in force, at most one of those that concern where messages go through, and one of the others. */
  readonly changes: Set<Change>;
  /** Changes that wait for their answer. */
  asked: number;
}

/** Operators that change the configurations of instances, and afterwards change them back until that is in force. */
export class Reloads {
  readonly #world: World;
  readonly #at: (place: number) => Instance | undefined;
  readonly #places: readonly Place[];

  constructor(world: World, at: (place: number) => Instance | undefined) {
    this.#world = world;
    this.#at = at;
    this.#places = Array.from({ length: world.plan.instances ?? 1 }, () => ({ changes: new Set<Change>(), asked: 0 }));
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
    return this.#documentWith([...(this.#places[place]?.changes ?? [])]);
  }

  /** Whether a change there concerns where messages go through. */
  redirects(place: number): boolean {
    return [...(this.#places[place]?.changes ?? [])].some(isStructural);
  }

  /** Changes the document of an instance; what is returned begins to change it back. */
  begin(place: number, change: Change): () => void {
    const changes = this.#places[place]?.changes;
    const instance = this.#at(place);
    const taken = [...(changes ?? [])].some((other) => isStructural(other) === isStructural(change));
    if (changes === undefined || instance === undefined || taken) return () => {};
    changes.add(change);
    this.#ask(place, instance, [...changes], (error) => {
      // Whoever starts the next process does not start it with what was refused.
      if (error !== undefined && instance.owner.alive) changes.delete(change);
    });
    return () => this.#back(place, change);
  }

  /** Asks until it is in force. */
  #back(place: number, change: Change): void {
    const { time } = this.#world;
    const changes = this.#places[place]?.changes;
    if (changes?.has(change) !== true) return;
    const instance = this.#at(place);
    const again = (): void => void time.at(time.now + AGAIN_MS, () => this.#back(place, change));
    if (instance === undefined) return again();
    const rest = [...changes].filter((other) => other !== change);
    this.#ask(place, instance, rest, (_, config) => {
      if (!instance.owner.alive) return;
      // One that was accepted may still be refused.
      const { supervisor } = instance;
      if (supervisor.state().kind !== "swapping" && supervisor.config() === config) changes.delete(change);
    });
    again();
  }

  #ask(
    place: number,
    instance: Instance,
    changes: readonly Change[],
    answered: (error: unknown, config: BridgeConfig) => void,
  ): void {
    const { trace } = this.#world;
    const { supervisor, owner } = instance;
    const config = instance.configOf(this.#documentWith(changes));
    instance.asked(() => {
      const here = this.#places[place];
      if (here === undefined) return;
      if (changes.some(isStructural)) owner.paused = false;
      const before = supervisor.config();
      const judged = this.#judge(here, instance, config);
      here.asked++;
      const end = (told: string, error: unknown): void => {
        here.asked--;
        if (!owner.alive) return;
        trace.add(`the change of ${instance.name} is ${told}`);
        judged(told, before);
        answered(error, config);
      };
      supervisor.apply(config).then(
        (answer) => end(answer, undefined),
        (error: unknown) => end(error instanceof OperationError ? error.kind : `no change: ${String(error)}`, error),
      );
    });
  }

  /** Holds the answer to a change that nothing else goes on beside against what was there before. */
  #judge(
    { asked }: Place,
    { supervisor, name }: Instance,
    to: BridgeConfig,
  ): (told: string, before: BridgeConfig) => void {
    const { auditor, outbox, time } = this.#world;
    const since = time.now;
    const alone = asked === 0 && supervisor.state().kind === "running";
    return (told, before) => {
      if (told === "conflict" && supervisor.beyondRecovery()) return;
      if (told !== "applied" && told !== "accepted" && told !== "stranding" && told !== "failed")
        auditor.violated(`a change of ${name} was answered with ${told}`);
      if (!alone) return;
      if ((told === "stranding" || told === "failed") && supervisor.config() !== before)
        auditor.violated(`a change of ${name} was refused, and yet its configuration is another one`);
      if (told !== "applied") return;
      const [drained, willBe] = [drainedBy(before), new Set(drainedBy(to))];
      const left = drained.filter((routeId) => !willBe.has(routeId));
      for (const number of outbox.waiting(left, since))
        if (auditor.isSettled(number))
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
