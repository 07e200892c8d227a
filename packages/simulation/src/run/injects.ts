import { OperationError } from "@bridge/core";
import { KIND } from "../plan/looks-at.ts";
import type { Inject } from "../plan/plan.ts";
import type { Instance } from "./instance.ts";
import type { World } from "./world.ts";

/** Kinds of errors after which nothing of the message is anywhere. */
const NOTHING: ReadonlySet<string> = new Set(["unavailable", "not_found", "conflict", "not_begun"]);

/** Operators that put messages into the route of an instance, once each, and believe what they are told. */
export class Injects {
  readonly #world: World;
  /** By the number of a message: whose answer is waited for. */
  readonly #waiting = new Map<number, Instance>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Whether each that is still there has been answered. */
  get done(): boolean {
    for (const { owner } of this.#waiting.values()) if (owner.alive) return false;
    return true;
  }

  /** Puts a message into whatever route the instance has; one that is gone is asked for nothing. */
  inject(instance: Instance | undefined, number: number, { patienceMs }: Inject): void {
    if (instance === undefined) return;
    const { auditor, trace, time } = this.#world;
    const { supervisor, owner, name } = instance;
    instance.asked(() => {
      const routeId = supervisor.config().routes[0]?.id ?? "none";
      const patience = new AbortController();
      const message = { id: `m-${number}`, headers: KIND, payload: new TextEncoder().encode(String(number)) };
      trace.add(`an operator injects ${number} at ${name}`);
      auditor.injects.asked(number);
      this.#waiting.set(number, instance);
      const answered = (told: string, kind: string): void => {
        this.#waiting.delete(number);
        if (!owner.alive) return;
        trace.add(`the inject of ${number} is answered: ${told}`);
        auditor.injects.answered(number, kind);
      };
      if (patienceMs !== undefined)
        time.reach(owner, time.now + patienceMs, () => patience.abort(new Error("no patience")));
      supervisor.inject(routeId, message, { signal: patience.signal }).then(
        ({ outcome }) => answered(outcome, outcome),
        (error: unknown) => {
          if (error instanceof OperationError) answered(error.kind, NOTHING.has(error.kind) ? "nothing" : error.kind);
          else answered(String(error), patience.signal.aborted ? "failed" : String(error));
        },
      );
    });
  }
}
