import { openMemoryLeases } from "@bridge/memory";
import { expect, test } from "vitest";
import type { Term } from "../../src/lease/term.ts";
import { turn } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { runtimeOf } from "../support/runtime-of.ts";

test("when another instance has taken a lease, the sources of the routes that send under it are asked anew, and no others", async () => {
  const asked: string[] = [];
  const { runtime } = runtimeOf({
    session: true,
    leases: () => openMemoryLeases({ name: "unused" }),
    transports: (memory) => [
      {
        type: "asked",
        receiver: {
          ...memory.receiver!,
          needsSession: false,
          create: (_, { id }) => ({
            async *receive(signal) {
              asked.push(id);
              await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
              yield* [];
            },
            async [Symbol.asyncDispose]() {},
          }),
        },
      },
    ],
    config: (config) => {
      const receivers = config.receivers.map((part) => ({ ...part, transport: "asked", sessionId: undefined }));
      const bindings = config.bindings.map((part) => ({ ...part, id: "free", sessionId: undefined }));
      const routes = config.routes.map((route) => ({
        ...route,
        id: "q",
        receiverId: "free",
        bindings: ["free"],
        resolver: { type: "all" as const },
      }));
      return {
        ...config,
        receivers: [...receivers, ...receivers.map((part) => ({ ...part, id: "free" }))],
        bindings: [...config.bindings, ...bindings],
        routes: [...config.routes, ...routes],
      };
    },
  });
  await runtime.start(bound());
  const [lease] = runtime.parts.leases.values();
  const taken = async () => {
    lease?.taken({ ended: false, signal: new AbortController().signal } as Term);
    for (let turns = 0; turns < 5; turns++) await turn();
  };
  await taken();
  expect(asked.toSorted()).toEqual(["free", "in"]);
  lease?.seenElsewhere(true);
  await taken();
  expect(asked.toSorted()).toEqual(["free", "in", "in"]);
  await runtime.stop();
});
