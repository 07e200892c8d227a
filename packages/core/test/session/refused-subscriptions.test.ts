import { BridgeError, type Connection, silentLogger, type Session } from "@bridge/ports";
import { expect, test } from "vitest";
import { keepLink } from "../../src/session/keep-link.ts";
import { Link } from "../../src/session/link.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

test("a connection that is lost while refused subscriptions wait to be asked for again leaves no timer of that", async () => {
  const lost = Promise.withResolvers<BridgeError>();
  const connection: Connection = {
    closed: lost.promise,
    reconcile: async () => new Set(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const session: Session = {
    subscriptions: new Set(["refused"]),
    connect: async () => connection,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const clock = new FakeClock();
  const link = new Link({ sessionId: "s", role: "source", session });
  const stop = new AbortController();
  const seams = { clock, random: { next: () => 0.5, id: () => "" }, logger: silentLogger };
  const kept = keepLink(link, seams, stop.signal);
  await turn();
  expect([link.connected, clock.pending]).toEqual([true, 1]);
  lost.resolve(new BridgeError("CONNECTION_LOST", "lost"));
  await turn();
  // That of the next attempt to connect.
  expect([link.connected, link.failures, clock.pending]).toEqual([false, 1, 1]);
  stop.abort(new Error("stopped"));
  await kept;
});
