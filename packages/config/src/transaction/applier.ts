import type { BridgeConfig } from "../model.ts";
import type { Stranding } from "./stranding.ts";

/** Brings a configuration into force. */
export interface ConfigApplier {
  /**
   * Makes `config` what runs. `applied`: it does. `accepted`: it will, without anybody doing more, because the bridge
   * is swapping for another request, paused or shutting down; the newest configuration wins then.
   *
   * Rejects when it cannot be applied: the former configuration runs again, or the bridge is beyond recovery. Aborting
   * `signal` before it is applied counts as such a failure: the change is undone.
   */
  apply(config: BridgeConfig, signal?: AbortSignal): Promise<"applied" | "accepted">;
  /**
   * To be called before `config` is stored: what runs is remembered, durably, when a process that ends before `config`
   * is in force would leave messages behind. Rejects when that cannot be done. Resolves to what is to be called when
   * `config` is stored no more. Absent: nothing is remembered.
   */
  announce?(config: BridgeConfig): Promise<() => Promise<void>>;
  /** Whether nothing runs, nor will in this process: a new one has to take over. */
  beyondRecovery(): boolean;
  /** For changes that revert themselves: how the bridge does. Absent: there are none. */
  readonly trial?: Trial;
  /** What `apply` would do now; changes nothing. */
  plan(config: BridgeConfig, signal: AbortSignal): Promise<ChangePlan>;
  /**
   * What `apply` would be refused for now, because messages wait where nobody would deliver or see them any more;
   * `undefined` when it would not. Asks stores only when the change could leave something behind, and each for a few
   * seconds at most. Changes nothing.
   *
   * @param stored what `config` is to take the place of, if others may run that before this bridge does: what it
   * carries must not be left behind, either, and of a store that is not open here nobody can tell. Default: what runs
   * here
   */
  stranding(config: BridgeConfig, signal?: AbortSignal, stored?: BridgeConfig): Promise<Stranding | undefined>;
}

/** How what runs gets on. Each is a look at facts; nothing waits. */
export interface Trial {
  /** Whether a runtime carries messages, and nothing is being changed. */
  running(): boolean;
  /** Whether the bridge is at least at this readiness level. */
  reaches(level: string): boolean;
  /** Sends that have ended, of these routes, and how many of them have failed; since the start of the process. */
  sends(routeIds: readonly string[]): { readonly sends: number; readonly failed: number };
}

/** What a change of configuration does to what runs; ids, sorted. */
export interface ChangePlan {
  /** Nothing differs in meaning. */
  readonly unchanged: boolean;
  readonly routes: PartsPlan;
  readonly sessions: PartsPlan;
  /** Stores that are closed and opened again, by role. */
  readonly stores: readonly string[];
  /** Taken over while everything keeps running, such as `bridge.log_level`. */
  readonly inPlace: readonly string[];
  /** Stored, but in force only after a restart of the process, such as `http`. */
  readonly restartRequired: readonly string[];
}

export interface PartsPlan {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Stopped and started again. */
  readonly restarted: readonly string[];
  readonly kept: readonly string[];
}
