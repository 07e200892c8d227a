import { type BridgeConfig, type ChangePlan, type Stranding, strandingOf } from "@bridge/config";
import { type Change, compare, pendingRestart } from "../change/compare.ts";
import { outOfSight } from "../change/stranding.ts";
import { OperationError } from "../operation-error.ts";
import { changeSlices } from "../runtime/change-slices.ts";
import { discardParts } from "../runtime/discard-parts.ts";
import { without } from "../runtime/part-sets.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Kept, RuntimeParts } from "../runtime/runtime-parts.ts";
import type { Veils } from "../veils.ts";
import type { Standing } from "./standing.ts";
import { beyondRecovery } from "./state-machine.ts";
import type { StopsWaiting } from "./stops-waiting.ts";
import { swap } from "./swap.ts";

export interface ChangesOptions {
  readonly standing: Standing;
  readonly veils: Veils;
  readonly stops: StopsWaiting;
  /** Told of each configuration that comes into force. */
  readonly onConfig: (config: BridgeConfig) => void;
}

/** Brings other configurations into force, one at a time; says before what that would mean. */
export class Changes {
  readonly #standing: Standing;
  readonly #startedWith: BridgeConfig;
  readonly #veils: Veils;
  readonly #stops: StopsWaiting;
  readonly #onConfig: (config: BridgeConfig) => void;

  constructor({ standing, veils, stops, onConfig }: ChangesOptions) {
    this.#standing = standing;
    this.#startedWith = standing.config;
    this.#veils = veils;
    this.#stops = stops;
    this.#onConfig = onConfig;
  }

  /** What is in force and cannot apply before the process starts again. */
  get pendingRestart(): readonly string[] {
    return pendingRestart(this.#standing.config, this.#startedWith);
  }

  async plan(config: BridgeConfig, signal: AbortSignal): Promise<ChangePlan> {
    return (await this.#compared(config, signal)).plan;
  }

  /** @param stored what others may run, in place of which `config` would come. Default: nothing but what runs here */
  async stranding(config: BridgeConfig, signal: AbortSignal, stored?: BridgeConfig): Promise<Stranding | undefined> {
    const { carried, foundation, state } = this.#standing;
    const leftFrom = (from: BridgeConfig): Promise<Stranding | undefined> =>
      foundation.stranding({ from, to: config, moving: state.is("running") }, signal);
    const own = carried && (await leftFrom(carried));
    if (own !== undefined || stored === undefined) return own;
    const unseen = outOfSight(stored, config, carried);
    if (unseen.length === 0) return leftFrom(stored);
    return strandingOf(unseen.map((store) => ({ store, version: stored.configVersion })));
  }

  /**
   * `accepted`: nothing runs, and `config` is for the next start.
   * @throws GaveWay when a stop was asked for before anything had begun
   */
  async apply(config: BridgeConfig, signal: AbortSignal): Promise<"applied" | "accepted"> {
    const standing = this.#standing;
    standing.state.refuseWhenTerminal();
    for (const { veils } of [standing.config, config]) this.#veils.remember(veils);
    await standing.departure.remember();
    const stranding = await this.stranding(config, AbortSignal.any([signal, standing.root, this.#stops.signal]));
    if (stranding !== undefined) throw new OperationError("stranding", stranding.message);
    const change = await this.#compared(config, signal);
    if (!this.#mayChange(config)) return "accepted";
    const { runtime } = standing;
    if (change.swaps && runtime !== undefined) return this.#swap(runtime, change, config, signal);
    await standing.departure.holds(config);
    this.#carry(config);
    return "applied";
  }

  /** `false`: nothing runs that could be changed, and `config` is taken for the next start. */
  #mayChange(config: BridgeConfig): boolean {
    const { state } = this.#standing;
    state.refuseWhenTerminal();
    if (state.is("running")) return true;
    this.#take(config);
    return false;
  }

  /** What runs, or is to, compared with `config`. */
  #compared(config: BridgeConfig, signal: AbortSignal): Promise<Change> {
    const comparing = compare(this.#standing.config, config, this.#startedWith);
    return changeSlices(this.#standing.seams.clock).run(comparing, signal);
  }

  async #swap(
    runtime: Runtime,
    change: Change,
    config: BridgeConfig,
    signal: AbortSignal,
  ): Promise<"applied" | "accepted"> {
    const { config: former, foundation, seams, state, departure, root } = this.#standing;
    const kept = () => ({ parts: runtime.parts, keys: change.kept });
    const parts = await this.#prepared(config, kept(), signal);
    if (!this.#mayChange(config) || parts === undefined) {
      if (parts !== undefined) discardParts(without(parts, runtime.parts));
      return "accepted";
    }
    state.enter({ kind: "swapping" });
    const rebuild = () => changeSlices(seams.clock).run(foundation.build(former, kept()), root);
    const ends = AbortSignal.any([root, state.terminal]);
    const outcome = await swap(
      { runtime, foundation, departure, from: former, to: config, parts, rebuild, root: ends },
      signal,
    );
    switch (outcome.kind) {
      case "applied":
        this.#carry(config);
        // Before the next change, which may bring such a session back.
        if (this.#back()) await foundation.leaveSessions(former, config);
        // Also when the bridge has ended in between: messages may be in the stores of `config` by now.
        return "applied";
      case "ending":
        this.#carry(config);
        return "accepted";
      case "undone":
        this.#take(former);
        this.#back();
        signal.throwIfAborted();
        throw undone(outcome.error);
      case "terminal":
        state.becomeTerminal(outcome.cause, outcome.error);
        throw beyondRecovery(outcome.error);
    }
  }

  /** `undefined` when the process is to end. */
  async #prepared(config: BridgeConfig, kept: Kept, signal: AbortSignal): Promise<RuntimeParts | undefined> {
    const { config: former, foundation, seams, root } = this.#standing;
    try {
      return await changeSlices(seams.clock).run(foundation.build(config, kept), AbortSignal.any([signal, root]));
    } catch (error) {
      foundation.follow(former);
      if (root.aborted) return undefined;
      throw error;
    }
  }

  /** After a swap: `false` when the bridge has ended in between. */
  #back(): boolean {
    const { state } = this.#standing;
    if (!state.is("swapping")) return false;
    state.enter({ kind: "running" });
    return true;
  }

  /** Takes `config`, under which messages come in from now on. */
  #carry(config: BridgeConfig): void {
    this.#standing.carried = config;
    this.#take(config);
  }

  #take(config: BridgeConfig): void {
    this.#standing.config = config;
    this.#standing.foundation.follow(config);
    this.#onConfig(config);
  }
}

function undone(error: Error): OperationError {
  const message = `${error.message} (the former configuration runs again)`;
  const kind = error instanceof OperationError ? error.kind : "failed";
  return new OperationError(kind, message, { cause: error });
}
