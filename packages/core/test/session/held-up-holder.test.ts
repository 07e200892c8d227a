import { BridgeError, type Connection, silentLogger, type Session } from "@bridge/ports";
import { expect, test } from "vitest";
import { Lease } from "../../src/lease/lease.ts";
import { instantOf, Term } from "../../src/lease/term.ts";
import { keepLink } from "../../src/session/keep-link.ts";
import { Link } from "../../src/session/link.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

const TTL_MS = 10_000;

test.each([
  ["connects again", 0, 2],
  ["that stood still until its lease had lapsed leaves the session to whoever has it by now", TTL_MS, 1],
])("a holder whose connection is lost %s", async (_, stoodStillMs, connects) => {
  const lost = [Promise.withResolvers<BridgeError>(), Promise.withResolvers<BridgeError>()];
  let asked = 0;
  const session: Session = {
    subscriptions: new Set(),
    connect: async (): Promise<Connection> => ({
      closed: lost[asked++]?.promise ?? Promise.reject(new Error("not asked for")),
      reconcile: async () => new Set(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const clock = new FakeClock();
  const lease = new Lease("s", "bridge/s");
  const link = new Link({ sessionId: "s", role: "target", session, lease });
  const stop = new AbortController();
  const seams = { clock, random: { next: () => 0.5, id: () => "" }, logger: silentLogger };
  lease.taken(new Term(clock, 1, instantOf(clock), TTL_MS));
  const kept = keepLink(link, seams, stop.signal);
  await turn();
  clock.skip(stoodStillMs);
  lost[0]?.resolve(new BridgeError("CONNECTION_LOST", "lost"));
  await turn();
  await clock.advance(1_000);
  await turn();
  expect([asked, link.connected, lease.held]).toEqual([connects, connects === 2, connects === 2]);
  stop.abort(new Error("stopped"));
  await kept;
});
