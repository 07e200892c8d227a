import type { ConfigWatchSection, HttpSection, Registry } from "@bridge/config";
import type { BridgeHooks } from "@bridge/core";
import type { KeyRefresh } from "@bridge/http-monitor";
import type { Seams } from "@bridge/ports";
import type { Family } from "@bridge/telemetry";
import type { Companion } from "./companion.ts";
import type { ConfigOrigin } from "./config-origin.ts";
import type { HostProcess } from "./host-process.ts";
import type { Overrule } from "./overrule.ts";
import type { ServerKeys } from "./server-keys.ts";
import type { ShutdownBudgets } from "./shut-down.ts";
import type { OpenTelemetry } from "./telemetry-export.ts";

/** What a process is given to make its parts of. */
export interface Surroundings extends Seams {
  /** How the configuration in force wants its source to be watched. */
  readonly watch: () => ConfigWatchSection;
}

/** What a companion is given. */
export interface Measurable extends Seams {
  readonly instanceId: string;
  /** Everything that is counted in this process; never rejects. */
  readonly readMetrics: () => Promise<readonly Family[]>;
}

/** What makes one process out of the bridge. */
export interface ProcessParts {
  readonly origin: ConfigOrigin;
  /** What of the configuration the process does not take from it. Default: nothing. */
  readonly overrule?: Overrule | undefined;
  /**
   * The keys of a process that starts with this `http` block. Asked at the start, and again for each configuration that
   * is to come into force: a throw refuses it.
   */
  readonly keys: (http: HttpSection | undefined) => ServerKeys;
  /**
   * Throws when a change that somebody makes over the admin server would leave nobody who can make the next one, now or
   * after a restart. Default: when `keys` throws.
   */
  readonly demandKeys?: ((http: HttpSection | undefined) => void) | undefined;
  /**
   * Told of the `http` block of each configuration that comes into force after the first. Default: nothing follows it.
   */
  readonly onHttp?: ((http: HttpSection | undefined) => void) | undefined;
  /** What is known of keys that a companion exchanges. Default: they stay. */
  readonly keyRefresh?: (() => KeyRefresh | undefined) | undefined;
  /** What goes on besides the bridge. Default: nothing. */
  readonly companions?: ((measured: Measurable) => readonly Companion[]) | undefined;
}

export interface ServeOptions {
  readonly registry: Registry;
  readonly host: HostProcess;
  /** Whether a missing configuration means an empty bridge, rather than an error (spec 1.8). */
  readonly startEmpty: boolean;
  /** How often a shutdown may spend `shutdown_timeout`. Default: `two`. */
  readonly budgets?: ShutdownBudgets | undefined;
  /** What a `telemetry.otlp` block is carried out with. Default: the block is refused. */
  readonly telemetry?: OpenTelemetry | undefined;
  /** Functions of the program that are told what happens in the bridge. Default: none. */
  readonly hooks?: BridgeHooks | undefined;
  /** Of the program, for whoever looks at its telemetry. */
  readonly version?: string | undefined;
  /** A rejection is a failed start. It is not waited for when the process is asked to end meanwhile. */
  readonly prepare: (surroundings: Surroundings) => ProcessParts | Promise<ProcessParts>;
}
