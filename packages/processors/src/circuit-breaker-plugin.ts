import { createHash } from "node:crypto";
import {
  type Admission,
  BridgeError,
  defineFactory,
  type Envelope,
  type PluginContext,
  type Processor,
  type ProcessorPlugin,
  type ProcessorResult,
  type SendOutcome,
} from "@bridge/ports";
import { compileField, messageField, Subject } from "@bridge/ports/conditions";
import { describe, integer, positiveDuration } from "@bridge/ports/options";
import * as v from "valibot";
import { admit, afterSend, type Circuit, type CircuitPolicy, type SendSign, type Ticket } from "./circuit.ts";
import { CircuitTable } from "./circuit-table.ts";

const options = v.strictObject({
  failures: describe(v.optional(integer(1, 1_000), 5), "How many failed sends in a row open the circuit."),
  open_for: describe(
    v.optional(positiveDuration(), "30s"),
    "How long an open circuit refuses every send before it lets some through as a test.",
  ),
  probes: describe(
    v.optional(integer(1, 100), 1),
    "How many sends are let through as a test: when all succeed the circuit closes, when one fails it opens again.",
  ),
  key: describe(
    v.optional(messageField()),
    "The part of a message that selects its circuit, such as header.tenant. Default: one circuit for each binding.",
  ),
  max_keys: describe(
    v.optional(integer(1, 1_000_000), 10_000),
    "The most circuits with failures that are remembered; beyond that, the one that changed longest ago is forgotten.",
  ),
});

/** The processor `circuit_breaker`: keeps messages from being sent while their target keeps failing. */
export const circuitBreakerPlugin: ProcessorPlugin = {
  type: "circuit_breaker",
  ...defineFactory({
    options,
    create: ({ failures, open_for: openForMs, probes, key, max_keys: maxKeys }, context: PluginContext) =>
      new CircuitBreaker({ failures, openForMs, probes }, { key, maxKeys }, context),
  }),
};

class CircuitBreaker implements Processor {
  readonly #policy: CircuitPolicy;
  readonly #read: ((subject: Subject) => unknown) | undefined;
  readonly #circuits: CircuitTable;
  readonly #context: PluginContext;

  constructor(
    policy: CircuitPolicy,
    table: { readonly key: string | undefined; readonly maxKeys: number },
    context: PluginContext,
  ) {
    this.#policy = policy;
    this.#read = table.key === undefined ? undefined : compileField(table.key);
    this.#circuits = new CircuitTable(table.maxKeys);
    this.#context = context;
  }

  process(envelope: Envelope): ProcessorResult {
    return { kind: "pass", envelope };
  }

  admit(envelope: Envelope, bindingId: string): Admission {
    const key = this.#keyOf(envelope, bindingId);
    const decision = admit(this.#circuits.get(key), this.#context.clock.monotonic(), this.#policy);
    if (decision.kind === "refused") return { kind: "refused", error: refusal(bindingId, decision.waitMs) };
    this.#become(key, decision.circuit, bindingId);
    return { kind: "admitted", ended: (outcome) => this.#ended(key, bindingId, decision.ticket, outcome) };
  }

  #ended(key: string, bindingId: string, ticket: Ticket, outcome: SendOutcome): void {
    const now = this.#context.clock.monotonic();
    this.#become(key, afterSend(this.#circuits.get(key), ticket, signOf(outcome), now, this.#policy), bindingId);
  }

  #become(key: string, circuit: Circuit, bindingId: string): void {
    const before = this.#circuits.get(key);
    if (circuit === before) return;
    this.#circuits.set(key, circuit);
    const { logger } = this.#context;
    if (circuit.kind === "open") logger.warn("circuit opened", { binding_id: bindingId });
    else if (circuit.kind === "closed" && before.kind === "half_open") {
      logger.info("circuit closed", { binding_id: bindingId });
    }
  }

  /** Short, whatever the message holds. */
  #keyOf(envelope: Envelope, bindingId: string): string {
    const value = this.#read?.(new Subject(envelope));
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return bindingId;
    return `${bindingId} ${createHash("sha256").update(String(value)).digest("base64url")}`;
  }
}

function refusal(bindingId: string, retryAfterMs: number): BridgeError {
  return new BridgeError("UNAVAILABLE", `the circuit of binding ${bindingId} is open: its sends kept failing`, {
    retryAfterMs,
    charged: false,
  });
}

/** A target that refuses a message for the message's sake is at work; only what may pass by itself counts against it. */
function signOf(outcome: SendOutcome): SendSign {
  switch (outcome.kind) {
    case "accepted":
      return "success";
    case "cancelled":
      return "none";
    case "failed":
      if (!outcome.error.charged) return "none";
      return outcome.error.class === "transient" ? "failure" : "success";
  }
}
