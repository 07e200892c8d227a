import type { BridgeConfig, Registry } from "@bridge/config";
import { type Clock, type Logger, type Random, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import type { Supervisor } from "./contract.ts";
import { RuntimeSupervisor } from "./supervisor.ts";

export interface SupervisorOptions {
  /** As validated by `parseConfig` or `validateConfig` with the same registry. */
  readonly config: BridgeConfig;
  readonly registry: Registry;
  /** Default: says nothing. */
  readonly logger?: Logger;
  /** Default: the machine's time. */
  readonly clock?: Clock;
  /** Default: the platform's randomness. */
  readonly random?: Random;
  /** Told of each configuration that comes into force after the first, for what lies outside, such as the log level. */
  readonly onConfig?: (config: BridgeConfig) => void;
}

/** A bridge for one configuration, not started: nothing is opened before {@link Supervisor.start}. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const seams = {
    logger: options.logger ?? silentLogger,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom(),
  };
  return new RuntimeSupervisor(options, seams);
}
