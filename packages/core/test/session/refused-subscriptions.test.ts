import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { turn } from "../support/fake-clock.ts";
import { keptLink } from "./kept-link.ts";

test("a connection that is lost while refused subscriptions wait to be asked for again leaves no timer of that", async () => {
  const lost = Promise.withResolvers<BridgeError>();
  const { link, clock, ended } = keptLink({ closed: lost.promise, reconcile: async () => new Set() });
  await turn();
  expect([link.connected, clock.pending]).toEqual([true, 1]);
  lost.resolve(new BridgeError("CONNECTION_LOST", "lost"));
  await turn();
  // That of the next attempt to connect.
  expect([link.connected, link.failures, clock.pending]).toEqual([false, 1, 1]);
  expect(await ended()).toBe(0);
});
