import {
  type BridgeConfig,
  type BridgeDocument,
  ConfigError,
  referencedDocument,
  type Registry,
  validateConfig,
} from "@bridge/config";
import type { BridgeHooks } from "../hooks/bridge-hooks.ts";
import type { Supervisor } from "../supervisor/contract.ts";
import { createSupervisor } from "../supervisor/create-supervisor.ts";
import type { BridgeDefinition } from "./bridge-definition.ts";
import { type DefinedDocument, documentOf } from "./document-of.ts";
import { givenStart } from "./given-start.ts";
import { runUntilTold } from "./run-until-told.ts";
import { SharedStart, type StartSeams } from "./shared-start.ts";

/** What a start of a bridge in code may be given. */
export interface StartOptions extends StartSeams {
  /** Ends the start when it aborts before the bridge runs; what it has opened is closed. Default: nothing does. */
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
   * Starts it, and resolves when it runs. While there is one, each further call gives the same supervisor: its options are not
   * used but for `signal`, which ends its own wait only, and what was stopped is started again. When the call that began it
   * gives up, the next one begins anew. After a shutdown the bridge starts anew. Disposing the supervisor shuts it down.
   *
   * Rejects with the signal's reason when that aborts before the bridge runs, and with an `OperationError` when it cannot start;
   * then everything is closed. With an `AggregateError` of that and a `StopError` when something could not be closed.
   */
  start(options?: StartOptions): Promise<Supervisor>;
  /**
   * Starts it, and shuts it down when the process is told to end by SIGTERM or SIGINT, or when the signal aborts; then it
   * resolves. It resolves as well when the program has shut the supervisor down. A second SIGTERM or SIGINT ends the process at once.
   *
   * The end is the bridge's: a `start` that is under way then rejects with the same reason.
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
  return new CodeBridge(defined, configOf(defined), definition.hooks);
}

/** Secrets of a program are kept out of its log as if they had come in through references. */
function configOf({ document, registry, places, hidden }: DefinedDocument): BridgeConfig {
  const checked = validateConfig(document, registry);
  if (!checked.ok) throw new ConfigError(places.all(checked.problems));
  const { referred } = referencedDocument(document, registry, hidden);
  const veiled = referred.length === 0 ? checked : validateConfig(document, registry, { referred });
  return veiled.ok ? veiled.config : checked.config;
}

class CodeBridge implements DefinedBridge {
  readonly config: BridgeConfig;
  readonly registry: Registry;
  readonly #defined: DefinedDocument;
  readonly #shared: SharedStart;

  constructor(defined: DefinedDocument, config: BridgeConfig, hooks: BridgeHooks | undefined) {
    this.config = config;
    this.registry = defined.registry;
    this.#defined = defined;
    this.#shared = new SharedStart((seams) =>
      createSupervisor({ ...seams, config, registry: defined.registry, hooks }),
    );
  }

  document(): BridgeDocument {
    const { document, registry, hidden } = this.#defined;
    return referencedDocument(document, registry, hidden).document;
  }

  async start(options: StartOptions = {}): Promise<Supervisor> {
    const { signal, ...seams } = givenStart("start", options);
    return this.#shared.start(seams, signal);
  }

  async run(options: StartOptions = {}): Promise<void> {
    const { signal, ...seams } = givenStart("run", options);
    return runUntilTold((end, bound) => this.#shared.start(seams, end, bound), signal, seams.clock);
  }
}
