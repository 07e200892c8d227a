import { type BridgeDocument, createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor, type Supervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { fileOutbox } from "@bridge/file";
import { memoryOutbox } from "@bridge/memory";
import { defineFactory, type Envelope, type SenderContext, type TransportPlugin } from "@bridge/ports";
import * as v from "valibot";
import { sqsTransport } from "../../src/sqs-transport.ts";
import { CLIENT } from "./client.ts";

const START_TIMEOUT_MS = 20_000;

export interface BridgeSetup {
  readonly receiver: Readonly<Record<string, unknown>>;
  /** What the target does with a message; it accepts one when this resolves. */
  readonly target: (envelope: Envelope, signal: AbortSignal) => Promise<void>;
  readonly policy?: Readonly<Record<string, unknown>>;
  /** An outbox, as the document has it; without one the route is `direct_hold`. */
  readonly outbox?: { readonly type: "memory" | "file"; readonly options: Readonly<Record<string, unknown>> };
}

/** A bridge from a queue to a target of the test's own, with dead letters in memory. */
export async function startBridge({ receiver, target, policy = {}, outbox }: BridgeSetup): Promise<Supervisor> {
  const registry = createRegistry({
    transports: [sqsTransport({ client: CLIENT }), targetTransport(target)],
    dlqStores: [memoryDlq],
    outboxStores: [memoryOutbox, fileOutbox],
  });
  const document: BridgeDocument = {
    bridge: { id: "test", quiesce_timeout: "1s" },
    stores: {
      dlq: { type: "memory", options: { acknowledge_volatile: true } },
      ...(outbox !== undefined && { outbox }),
    },
    receivers: [{ id: "in", transport: "sqs", options: { wait_time: "1s", ...receiver } }],
    senders: [{ id: "out", transport: "target" }],
    bindings: [{ id: "to-out", sender_id: "out" }],
    routes: [
      {
        id: "route",
        receiver_id: "in",
        bindings: ["to-out"],
        delivery_mode: outbox === undefined ? "direct_hold" : "shared_outbox",
        policy: { backoff: { initial_interval: "100ms", max_interval: "200ms" }, ...policy },
      },
    ],
  };
  const supervisor = createSupervisor({ config: parseConfig(document, registry), registry });
  await supervisor.start(AbortSignal.timeout(START_TIMEOUT_MS));
  return supervisor;
}

function targetTransport(target: BridgeSetup["target"]): TransportPlugin {
  return {
    type: "target",
    sender: {
      needsSession: false,
      ...defineFactory({
        options: v.strictObject({}),
        create: (_options, _context: SenderContext) => ({
          send: (envelope, _address, signal) => target(envelope, signal),
          async [Symbol.asyncDispose]() {},
        }),
      }),
    },
  };
}
