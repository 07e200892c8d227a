import { type BridgeConfig, REDACTED, type Registry } from "@bridge/config";
import { BridgeError, type DeadLetter, type Envelope, type Seams, type SourceMessage } from "@bridge/ports";
import { steadyLogger } from "@bridge/ports/internal";
import { Accounts } from "../accounting/accounts.ts";
import { Recent } from "../recent/recent.ts";
import { Taps } from "../tap/taps.ts";
import { Hooks } from "../hooks/hooks.ts";
import { partKey } from "../change/part-graph.ts";
import { Controls } from "../control/controls.ts";
import { building } from "../runtime/build.ts";
import { changeSlices } from "../runtime/change-slices.ts";
import type { RuntimeParts } from "../runtime/runtime-parts.ts";
import { DueLooks } from "./due-looks.ts";
import { expiryOf } from "./expiry.ts";
import { normalise } from "./ingress.ts";
import { replayOf } from "./injection.ts";
import type { RouteParts, Target } from "./route-parts.ts";
import { routeNotFound } from "../route-not-found.ts";
import { runProcessor } from "./run-processor.ts";

/** What a route would do with a message, as far as can be known without sending it. */
export interface Explanation {
  /** As the route receives it. */
  readonly received: Envelope;
  /** The processors that saw it, in order, and what each did. */
  readonly processors: readonly ProcessorStep[];
  /** As it would be sent. */
  readonly sent: Envelope;
  /** The bindings it would go to; empty if it would go nowhere. */
  readonly bindings: readonly BindingStep[];
  /** Why it would go nowhere. */
  readonly error?: BridgeError;
}

export interface ProcessorStep {
  readonly id: string;
  readonly did: "passed" | "changed" | "filtered" | "failed";
  readonly error?: BridgeError;
}

export interface BindingStep {
  readonly id: string;
  /** With its placeholders filled in; absent if they cannot be. */
  readonly address?: string;
  readonly error?: BridgeError;
}

const notOpen = (): undefined => undefined;

export interface ExplainOptions extends Seams {
  readonly config: BridgeConfig;
  readonly registry: Registry;
  readonly routeId: string;
  readonly message: SourceMessage;
}

/**
 * Takes a message through a route's processors, resolver and addresses; opens nothing and sends nothing.
 * @throws OperationError `not_found` for an unknown route
 */
export async function explain(options: ExplainOptions, signal: AbortSignal): Promise<Explanation> {
  await using explainer = await Explainer.of(options, signal);
  return await explainer.message(options.routeId, options.message, signal);
}

/** Explains messages for any route of a configuration. Builds the parts once; disposing it ends them. */
export class Explainer implements AsyncDisposable {
  readonly #parts: RuntimeParts;
  readonly #seams: Pick<Seams, "clock" | "random">;

  private constructor(parts: RuntimeParts, seams: Pick<Seams, "clock" | "random">) {
    this.#parts = parts;
    this.#seams = seams;
  }

  /** Builds in slices: there may be thousands of routes. */
  static async of(options: Omit<ExplainOptions, "routeId" | "message">, signal: AbortSignal): Promise<Explainer> {
    const { config, registry, clock, random, logger } = options;
    const steps = building({
      instanceId: config.bridge.id,
      clock,
      random,
      logger: steadyLogger(logger),
      config,
      registry,
      accounts: new Accounts(),
      controls: new Controls(clock),
      taps: new Taps(clock),
      recent: new Recent(clock),
      looks: new DueLooks(clock),
      hooks: new Hooks({ hooks: undefined, clock, logger, veil: () => undefined, dlq: notOpen }),
      budgets: () => config.bridge,
      dlq: notOpen,
      outbox: notOpen,
    });
    return new Explainer(await changeSlices(clock).run(steps, signal), options);
  }

  /** @throws OperationError `not_found` for an unknown route */
  async message(routeId: string, message: SourceMessage, signal: AbortSignal): Promise<Explanation> {
    const route = this.#parts.routes.get(partKey.route(routeId));
    if (route === undefined)
      throw routeNotFound(
        routeId,
        [...this.#parts.routes.values()].map(({ config }) => config.id),
      );
    const { clock } = this.#seams;
    const { envelope, error } = normalise(message, { sourceId: route.config.receiverId, ...this.#seams });
    return follow(route, { received: envelope, refused: error ?? expiryOf(envelope, clock) }, signal);
  }

  /**
   * Explains how a dead letter would be redriven: to `onlyBinding`, or to the bindings that the resolver chooses if
   * that is empty. `undefined` if its route or binding no longer exists.
   */
  async replay(entry: DeadLetter, onlyBinding: string, signal: AbortSignal): Promise<Explanation | undefined> {
    const route = this.#parts.routes.get(partKey.route(entry.routeId));
    if (route === undefined || (onlyBinding !== "" && !route.targets.has(onlyBinding))) return undefined;
    const received = replayOf(entry, this.#seams).envelope;
    const only = onlyBinding === "" ? undefined : onlyBinding;
    return follow(route, { received, refused: expiryOf(received, this.#seams.clock), only }, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await dispose(this.#parts);
  }
}

async function follow(
  route: RouteParts,
  taken: {
    readonly received: Envelope;
    readonly refused: BridgeError | undefined;
    /** Of a redrive: the only binding, past the resolver. */
    readonly only?: string | undefined;
  },
  signal: AbortSignal,
): Promise<Explanation> {
  const { received, refused, only } = taken;
  const processors: ProcessorStep[] = [];
  if (refused !== undefined) return { received, processors, sent: received, bindings: [], error: refused };
  let sent = received;
  for (const named of route.processors) {
    const result = await runProcessor(route.clock, named, sent, route.config.policy.sendTimeoutMs, signal);
    if (result instanceof BridgeError) {
      processors.push({ id: named.id, did: result.class === "filtered" ? "filtered" : "failed", error: result });
      return { received, processors, sent, bindings: [], error: result };
    }
    processors.push({ id: named.id, did: result === sent ? "passed" : "changed" });
    sent = result;
  }
  const chosen = only === undefined ? route.resolver(sent) : [only];
  if (chosen === undefined) {
    const error = new BridgeError(
      "BINDING_UNRESOLVED",
      "no rule of the resolver chose a binding, and it has no default",
    );
    return { received, processors, sent, bindings: [], error };
  }
  return { received, processors, sent, bindings: chosen.map((id) => bindingStep(route, id, sent)) };
}

function bindingStep({ targets }: RouteParts, id: string, sent: Envelope): BindingStep {
  try {
    const { address, hidesAddress } = targets.get(id) as Target;
    const filled = address(sent);
    return { id, address: hidesAddress ? REDACTED : filled };
  } catch (thrown) {
    return { id, error: BridgeError.from(thrown) };
  }
}

async function dispose({ links, intakes, senders, processors }: RuntimeParts): Promise<void> {
  const parts: Partial<AsyncDisposable>[] = [
    ...[...intakes.values()].map(({ receiver }) => receiver),
    ...senders.values(),
    ...[...links.values()].map(({ session }) => session),
    ...[...processors.values()].map(({ processor }) => processor),
  ];
  await Promise.allSettled(parts.map(async (part) => part[Symbol.asyncDispose]?.()));
}
