import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor } from "@bridge/core";
import { BridgeError, type LeaseStore, type LeaseStorePlugin } from "@bridge/ports";
import { memory, memoryHub } from "@bridge/transport-memory";
import { expect, test } from "vitest";
import * as v from "valibot";
import { functionTransport, handler } from "../src/index.ts";
import { never } from "./support/parts.ts";

/** Leases of which another instance may take all. */
class Leases implements LeaseStore {
  #token = 1;
  #holder = "";
  #beat = 0;
  #ttlMs = 1_000;

  steal(): void {
    this.#token += 1;
    this.#beat += 1;
    this.#holder = "another";
  }

  async read() {
    return { holder: this.#holder, token: this.#token, beat: this.#beat, ttlMs: this.#ttlMs };
  }

  async replace(...[_key, expected, next]: Parameters<LeaseStore["replace"]>): Promise<boolean> {
    if (expected?.token !== this.#token || expected.beat !== this.#beat) return false;
    ({ token: this.#token, beat: this.#beat, holder: this.#holder, ttlMs: this.#ttlMs } = next);
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

test("the signal of a handler ends when the lease is lost under which its message came, which is not accepted", async () => {
  const leases = new Leases();
  const leasePlugin: LeaseStorePlugin = {
    type: "test",
    reach: "cluster",
    options: v.strictObject({}),
    create: () => async () => leases,
  };
  const hub = memoryHub();
  const called = Promise.withResolvers<AbortSignal>();
  const stuck = handler((_message, { signal }) => {
    called.resolve(signal);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  });
  const registry = createRegistry({
    transports: [functionTransport({ handlers: { stuck } }), memory(hub)],
    leaseStores: [leasePlugin],
  });
  const config = parseConfig(
    {
      bridge: { id: "test", lease_ttl: "8s", drain_timeout: "2s", quiesce_timeout: "100ms", terminal_linger: "0s" },
      stores: { lease: { type: "test" } },
      sessions: [{ id: "s", transport: "memory", session_mode: "exclusive" }],
      receivers: [{ id: "in", session_id: "s", options: { channel: "in" } }],
      senders: [{ id: "out", transport: "function", options: { handler: "stuck" } }],
      bindings: [{ id: "to-out", sender_id: "out" }],
      routes: [
        {
          id: "r",
          receiver_id: "in",
          bindings: ["to-out"],
          policy: { on_permanent_failure: "drop", on_expired: "drop", send_timeout: "7s" },
        },
      ],
    },
    registry,
  );
  const supervisor = createSupervisor({ config, registry });
  await supervisor.start(never);
  hub.publish("in", { payload: "a" });
  const signal = await called.promise;
  leases.steal();
  // It is renewed, and found lost, every two seconds: before the send would be given up.
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  expect(BridgeError.from(signal.reason).code).not.toBe("TIMEOUT");
  await supervisor.shutdown().catch(() => {});
  expect(hub.channel("in").accepted).toBe(0);
});
