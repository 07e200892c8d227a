import type { BridgeConfig, Registry } from "@bridge/config";
import {
  type Clock,
  type ConfigDepartures,
  type Logger,
  type Random,
  silentLogger,
  systemClock,
  systemRandom,
  type Tracer,
} from "@bridge/ports";
import { steadyLogger } from "@bridge/ports/internal";
import type { JobEvent } from "../dlq-job/job-parts.ts";
import { type BridgeHooks, hookProblems } from "../hooks/bridge-hooks.ts";
import type { Supervisor } from "./contract.ts";
import { veiledLogger } from "../veiled-logger.ts";
import { Veils } from "../veils.ts";
import { RuntimeSupervisor } from "./supervisor.ts";

export interface SupervisorOptions {
  /** As validated by `parseConfig` or `validateConfig` with the same registry. */
  readonly config: BridgeConfig;
  readonly registry: Registry;
  /** What it throws is thrown away: no line is worth a message. Default: says nothing. */
  readonly logger?: Logger;
  /** Default: the machine's time. */
  readonly clock?: Clock;
  /** Default: the platform's randomness. */
  readonly random?: Random;
  /** Told of each configuration that comes into force after the first, for what lies outside, such as the log level. */
  readonly onConfig?: (config: BridgeConfig) => void;
  /** Default: `bridge.instance_id`, else the bridge's id and something random, as {@link instanceIdOf} makes it. */
  readonly instanceId?: string;
  /**
   * Is told what came in through references; whoever gives one sees to it that `logger` does not show that. Default: lines go
   * through one of its own.
   */
  readonly veils?: Veils;
  /** Makes spans of deliveries. Default: nothing is traced, and trace contexts are passed on as they came. */
  readonly tracer?: Tracer | undefined;
  /** Told what jobs of the DLQ do of their own accord, for a record of it; what it throws is logged. Default: nobody is. */
  readonly onJob?: ((event: JobEvent) => void) | undefined;
  /**
   * Keeps, over the end of the process, the document that messages came in under while another one is stored. Default: what a process
   * leaves that ends amid such a change is left behind.
   */
  readonly departures?: ConfigDepartures | undefined;
  /** Functions that are told what happens. Default: none. */
  readonly hooks?: BridgeHooks | undefined;
}

/** What a process with this configuration is called: `bridge.instance_id`, else `<bridge.id>-<random>`. */
export function instanceIdOf({ bridge: { id, instanceId } }: BridgeConfig, random: Random): string {
  return instanceId ?? `${id}-${random.id().slice(0, 8)}`;
}

/**
 * A bridge for one configuration, not started: nothing is opened before {@link Supervisor.start}.
 * @throws TypeError naming a hook that is no function, or that there is not
 */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  for (const [name, message] of hookProblems(options.hooks))
    throw new TypeError(`hooks${name === undefined ? "" : `.${name}`} ${message}`);
  const veils = options.veils ?? new Veils();
  const logger = options.logger ?? silentLogger;
  const seams = {
    logger: steadyLogger(options.veils === undefined ? veiledLogger(steadyLogger(logger), veils.over) : logger),
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom(),
  };
  const { config, instanceId = instanceIdOf(config, seams.random) } = options;
  return new RuntimeSupervisor({ ...options, instanceId, veils }, seams);
}
