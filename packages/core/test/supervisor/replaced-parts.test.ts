import { queryObjects } from "node:v8";
import type { DeliveryMode } from "@bridge/config";
import { BridgeError, type TransportPlugin } from "@bridge/ports";
import { expect, test } from "vitest";
import { Route } from "../../src/route/route.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

const CHANGES = 20;

/** A transport that keeps every signal it gets from the engine, and tells its sessions why they ended. */
function remembering(memory: TransportPlugin, kept: AbortSignal[]): TransportPlugin {
  const { session, receiver } = memory;
  return {
    ...memory,
    type: "remembering",
    session: {
      ...session!,
      create(options, context) {
        const built = session!.create(options, context);
        const over = new AbortController();
        const connect = built.connect.bind(built);
        const end = built[Symbol.asyncDispose].bind(built);
        return Object.assign(built, {
          over,
          connect(signal: AbortSignal) {
            kept.push(signal);
            return connect(signal);
          },
          [Symbol.asyncDispose]() {
            over.abort(new BridgeError("CONNECTION_LOST", "the session is disposed"));
            return end();
          },
        });
      },
    },
    receiver: {
      ...receiver!,
      create(options, context) {
        const built = receiver!.create(options, context);
        const receive = built.receive.bind(built);
        return Object.assign(built, {
          receive(signal: AbortSignal, ...rest: []) {
            kept.push(signal);
            return receive(signal, ...rest);
          },
        });
      },
    },
  };
}

test.each<DeliveryMode>(["direct_hold", "shared_outbox"])(
  "%s: what changes have replaced is given back, though a transport keeps every signal that it got",
  async (deliveryMode) => {
    const kept: AbortSignal[] = [];
    const { supervisor, config } = memoryBridge({
      deliveryMode,
      session: true,
      transports: (memory) => [remembering(memory, kept)],
      config: (plain) => ({
        ...plain,
        sessions: plain.sessions.map((session) => ({ ...session, transport: "remembering" })),
        receivers: plain.receivers.map((part) => ({ ...part, transport: "remembering" })),
        senders: plain.senders.map((part) => ({ ...part, transport: "remembering" })),
      }),
    });
    await supervisor.start(bound());
    const before = queryObjects(Route, { format: "count" });
    for (let change = 1; change <= CHANGES; change++) {
      const sessions = config.sessions.map((session) => ({ ...session, options: { change } }));
      expect(await supervisor.apply({ ...config, configVersion: change + 1, sessions }, bound())).toBe("applied");
    }
    expect(queryObjects(Route, { format: "count" })).toBeLessThanOrEqual(before + 2);
    expect(kept.length).toBeGreaterThan(CHANGES);
    await supervisor.shutdown();
  },
);
