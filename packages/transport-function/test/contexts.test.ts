import { AsyncLocalStorage } from "node:async_hooks";
import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { memory } from "@bridge/transport-memory";
import { describe, expect, test } from "vitest";
import { type FunctionMessage, type Handler, handler } from "../src/index.ts";

const user = new AsyncLocalStorage<string>();
const IDS = ["a", "b", "c", "d"];

/** What each message finds, before it says who its user is. */
const HANDLERS: Readonly<Record<string, (look: (message: FunctionMessage) => void) => Handler>> = {
  "a handler": (look) => handler(look),
  "a handler that waits": (look) =>
    handler(async (message) => {
      look(message);
      await Promise.resolve();
    }),
  "a handler that throws": (look) =>
    handler((message) => {
      look(message);
      throw new Error("always");
    }),
  "a batch handler": (look) => handler.batch((messages) => messages.forEach(look), { size: 1 }),
};

describe.each(Object.entries(HANDLERS))("the asynchronous context of %s", (_, make) => {
  test.each([1, 100])(
    "is that of the start, or of the inject, and never that of another message: %i at once",
    async (max) => {
      const inside = memory();
      const found: (readonly [string, string | undefined])[] = [];
      const to = make((message) => {
        found.push([message.id, user.getStore()]);
        user.enterWith(`user of ${message.id}`);
      });
      const define = defineBridge({
        id: "contexts",
        stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
        routes: { r: { from: inside.channel("in"), to, policy: { max_in_flight: max, max_replay_attempts: 1 } } },
      });
      const bridge = await user.run("start", () => define.start());
      for (const id of IDS) inside.hub.publish("in", { id, payload: "" });
      await inside.hub.channel("in").waitForSettlements(IDS.length, AbortSignal.timeout(10_000));
      await user.run("inject", () => bridge.inject("r", { id: "injected", payload: "" }));
      await bridge.shutdown();
      expect(found).toEqual([...IDS.map((id) => [id, "start"]), ["injected", "inject"]]);
    },
  );
});
