import type {
  BridgeHooks,
  BridgeStats,
  DeadLetterEvent,
  FailedAttempt,
  ProgressChange,
  StateChange,
} from "@bridge/core";
import { BridgeError } from "@bridge/ports";
import type { Owner } from "../time/virtual-time.ts";
import { numbersOf } from "./told-of-legs.ts";
import type { World } from "./world.ts";

export type HookName = keyof BridgeHooks;

interface Calls {
  begun: number;
  failed: number;
  /** Aborts when nobody waits for the one that is under way. */
  underWay: AbortSignal | undefined;
  /** Events that were lost before its last call. */
  lost: number;
}

/** What the hooks of one instance are told, held against what the edges know. */
export class HookBooks {
  readonly #world: Pick<World, "auditor" | "plan">;
  readonly #owner: Owner;
  readonly #lost: (name: HookName) => number;
  readonly #calls = new Map<HookName, Calls>();
  #state: StateChange["to"] = "unwired";
  readonly #progress = new Map<string, ProgressChange["to"]>();

  /** `lost`: how many events of a hook the engine counts as lost. */
  constructor(world: Pick<World, "auditor" | "plan">, owner: Owner, lost: (name: HookName) => number) {
    this.#world = world;
    this.#owner = owner;
    this.#lost = lost;
  }

  /** A call begins: of one hook there is one at a time that anybody waits for. What is returned is called at its end. */
  begins(name: HookName, signal: AbortSignal): (failed: boolean) => void {
    const calls = this.#of(name);
    if (calls.underWay?.aborted === false) this.#violated(name, "is called while its last call is under way");
    calls.begun++;
    calls.underWay = signal;
    return (failed) => {
      // What was given up has failed by that.
      if (failed && !signal.aborted) calls.failed++;
      if (calls.underWay === signal) calls.underWay = undefined;
    };
  }

  /** It is durable, and can be loaded for as long as it is there. */
  async deadLetter(event: DeadLetterEvent, signal: AbortSignal): Promise<void> {
    const { auditor, plan } = this.#world;
    const { id } = event;
    const before = auditor.jobs.letters.spellOf(id);
    if (before === undefined) return this.#violated("onDeadLetter", `is told of ${id}, which no DLQ has ever had`);
    try {
      const entry = await event.load(signal);
      // Another store may have come into the place of the one that has it.
      const moved = plan.documents !== undefined || plan.faults.some(({ kind }) => kind === "reload");
      const stayed = before !== 0 && auditor.jobs.letters.spellOf(id) === before;
      if (entry === undefined ? stayed && !moved : entry.id !== id)
        this.#violated("onDeadLetter", `has loaded ${entry?.id ?? "nothing"} for ${id}, which is there`);
    } catch (error) {
      if (!BridgeError.is(error) && !signal.aborted)
        this.#violated("onDeadLetter", `cannot load ${id}: ${String(error)}`);
    }
  }

  attemptFailed({ binding = "", message, error, attempt }: FailedAttempt): void {
    const { auditor, plan } = this.#world;
    if (attempt < 1 || !(error instanceof Error))
      this.#violated("onAttemptFailed", `is told of attempt ${attempt} of ${message.id}, and ${String(error)}`);
    const numbers = numbersOf(plan, { envelopeId: message.id });
    if (numbers?.every((number) => !auditor.standings.of(number, binding).failed) === true)
      this.#violated("onAttemptFailed", `is told of ${message.id} to ${binding}, which has not failed`);
  }

  state({ from, to }: StateChange): void {
    if (!this.#misses("onState") && from !== this.#state)
      this.#violated("onState", `is told of ${to} after ${from}, and was told of ${this.#state}`);
    this.#state = to;
  }

  progress({ route, from, to }: ProgressChange): void {
    // They are those of any route.
    if (this.#misses("onProgress")) this.#progress.clear();
    const before = this.#progress.get(route);
    this.#progress.set(route, to);
    if (from === to) this.#violated("onProgress", `is told that ${route} is ${to} as before`);
    // With another configuration a route begins anew.
    if (before !== undefined && from !== before && from !== "idle")
      this.#violated("onProgress", `is told that ${route} was ${from}, and was told that it is ${before}`);
  }

  /** Nothing is under way: the engine has counted what there was. */
  atRest({ hooks }: BridgeStats): void {
    for (const { hook, calls, failures } of hooks) {
      const { begun, failed } = this.#of(hook);
      if (calls !== begun) this.#violated(hook, `was called ${begun} times, and counts as called ${calls} times`);
      if (failures < failed) this.#violated(hook, `has failed ${failed} times, and ${failures} are counted`);
    }
  }

  /** Whether events were lost between its last call and this one: of the many that waited, those that were next. */
  #misses(name: HookName): boolean {
    const calls = this.#of(name);
    const { lost } = calls;
    calls.lost = this.#lost(name);
    return calls.lost > lost;
  }

  #of(name: HookName): Calls {
    const calls = this.#calls.get(name) ?? { begun: 0, failed: 0, underWay: undefined, lost: 0 };
    this.#calls.set(name, calls);
    return calls;
  }

  #violated(name: HookName, words: string): void {
    if (this.#owner.alive) this.#world.auditor.violated(`${name} of ${this.#owner.name} ${words}`);
  }
}
