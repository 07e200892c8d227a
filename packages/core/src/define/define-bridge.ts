import {
  type BridgeConfig,
  type BridgeDocument,
  ConfigError,
  referencedDocument,
  type Registry,
  validateConfig,
} from "@bridge/config";
import { orAborted } from "@bridge/ports/internal";
import type { Supervisor } from "../supervisor/contract.ts";
import { createSupervisor, type SupervisorOptions } from "../supervisor/create-supervisor.ts";
import type { BridgeDefinition } from "./bridge-definition.ts";
import { type DefinedDocument, documentOf } from "./document-of.ts";
import { runUntilTold } from "./run-until-told.ts";

/** What a start of a bridge in code may be given. */
export interface StartOptions extends Omit<SupervisorOptions, "config" | "registry"> {
  /** Ends the start when it aborts before it is over; what it has opened is closed. Default: nothing does. */
  readonly signal?: AbortSignal | undefined;
}

/** A bridge that was defined in code. Nothing is opened before it is started. */
export interface DefinedBridge {
  /** The configuration that it runs. */
  readonly config: BridgeConfig;
  /** The plugins that it is made of: what another configuration for it is validated with. */
  readonly registry: Registry;
  /**
   * The document of the same bridge, for those who move to a file of configuration. Secrets, and the users that stood in URLs,
   * are references such as `${env:RABBIT_PASSWORD}`.
   */
  document(): BridgeDocument;
  /**
   * Starts it, and resolves when it runs. A second call gives the same supervisor, until that is shut down; then the bridge
   * starts anew. Disposing the supervisor shuts it down.
   *
   * Rejects with the signal's reason when that aborts before the bridge runs, and with an `OperationError` when it cannot start;
   * then everything is closed. With an `AggregateError` of that and a `StopError` when something could not be closed.
   */
  start(options?: StartOptions): Promise<Supervisor>;
  /**
   * Starts it, and stops it when the process is told to end by SIGTERM or SIGINT, or when the signal aborts; then it resolves.
   * A second SIGTERM or SIGINT ends the process at once.
   *
   * Rejects when it cannot start, with the reason when it is beyond recovery, and with a `StopError` when a part did not stop.
   */
  run(options?: StartOptions): Promise<void>;
}

/**
 * A bridge in code: the same document, checked by the same schema and carried by the same engine as one in a file.
 *
 * @example
 * const shop = defineBridge({
 *   id: "shop",
 *   stores: { dlq: fileDlq({ path: "data/dlq.db" }) },
 *   routes: {
 *     orders: { from: rabbit.queue("orders"), to: http({ url: "https://erp.example" }).at("/orders") },
 *   },
 * });
 * await shop.run();
 *
 * @throws ConfigError with every problem, each at its place in the definition
 */
export function defineBridge(definition: BridgeDefinition): DefinedBridge {
  const defined = documentOf(definition);
  return new CodeBridge(defined, configOf(defined));
}

/** Secrets of a program are kept out of its log as if they had come in through references. */
function configOf({ document, registry, places, hidden }: DefinedDocument): BridgeConfig {
  const checked = validateConfig(document, registry);
  if (!checked.ok) throw new ConfigError(checked.problems.map((problem) => places.of(problem)));
  const { referred } = referencedDocument(document, registry, hidden);
  const veiled = referred.length === 0 ? checked : validateConfig(document, registry, { referred });
  return veiled.ok ? veiled.config : checked.config;
}

class CodeBridge implements DefinedBridge {
  readonly config: BridgeConfig;
  readonly registry: Registry;
  readonly #defined: DefinedDocument;
  #started: Promise<Supervisor> | undefined;

  constructor(defined: DefinedDocument, config: BridgeConfig) {
    this.config = config;
    this.registry = defined.registry;
    this.#defined = defined;
  }

  document(): BridgeDocument {
    const { document, registry, hidden } = this.#defined;
    return referencedDocument(document, registry, hidden).document;
  }

  async start(options: StartOptions = {}): Promise<Supervisor> {
    const { signal, ...seams } = options;
    signal?.throwIfAborted();
    for (let former = this.#started; former !== undefined; former = this.#started) {
      const supervisor = await orAborted(former, signal);
      if (supervisor.state().kind !== "shutting_down") {
        await supervisor.start(signal);
        return supervisor;
      }
      await orAborted(supervisor.shutdown(), signal);
      if (this.#started === former) this.#started = undefined;
    }
    const started = this.#begin(seams, signal);
    this.#started = started;
    try {
      return await started;
    } catch (error) {
      if (this.#started === started) this.#started = undefined;
      throw error;
    }
  }

  run(options: StartOptions = {}): Promise<void> {
    return runUntilTold((signal) => this.start({ ...options, signal }), options.signal);
  }

  async #begin(seams: Omit<StartOptions, "signal">, signal: AbortSignal | undefined): Promise<Supervisor> {
    const supervisor = createSupervisor({ ...seams, config: this.config, registry: this.registry });
    try {
      await supervisor.start(signal);
      return supervisor;
    } catch (error) {
      const [shut] = await Promise.allSettled([supervisor.shutdown()]);
      if (shut.status === "rejected") {
        const message = "the bridge did not start, and did not close what it had opened";
        throw new AggregateError([error, shut.reason], message, { cause: error });
      }
      throw error;
    }
  }
}
