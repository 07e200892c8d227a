import { type Connection, silentLogger, type Session } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { Lease } from "../../src/lease/lease.ts";
import { Term } from "../../src/lease/term.ts";
import { keepLink } from "../../src/session/keep-link.ts";
import { Link } from "../../src/session/link.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

function stage(lease?: Lease) {
  const clock = new FakeClock();
  const made = Promise.withResolvers<Connection>();
  const disposing = Promise.withResolvers<void>();
  const done = { asked: 0, begun: 0, ended: 0 };
  const session: Session = {
    subscriptions: new Set(),
    connect() {
      done.asked++;
      return made.promise;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const connection: Connection = {
    closed: new Promise(() => {}),
    reconcile: async () => new Set(),
    async [Symbol.asyncDispose]() {
      done.begun++;
      await disposing.promise;
      done.ended++;
    },
  };
  const link = new Link({ sessionId: "s", role: "source", session, lease });
  const stop = new AbortController();
  const seams = { clock, random: { next: () => 0.5, id: () => "" }, logger: silentLogger };
  const kept = keepLink(link, seams, stop.signal);
  return { clock, link, stop, kept, done, connect: () => made.resolve(connection), disposed: disposing.resolve };
}

test("finding 10.1: a connection that comes after the stop is closed", async () => {
  const { stop, kept, done, connect, disposed } = stage();
  expect(done.asked).toBe(1);
  stop.abort(new Error("stopped"));
  await kept;
  disposed();
  connect();
  await turn();
  expect(done).toEqual({ asked: 1, begun: 1, ended: 1 });
});

test("a link whose connection is being closed is connected no more, however long that takes", async () => {
  const { link, stop, kept, done, connect, disposed } = stage();
  connect();
  await turn();
  expect(link.connected).toBe(true);
  stop.abort(new Error("stopped"));
  await turn();
  expect([link.connected, done.begun, done.ended]).toEqual([false, 1, 0]);
  disposed();
  await kept;
});

describe("finding 10.1: the term of a lease is idle", () => {
  test("when the connection that was open under it has closed, and not before", async () => {
    const lease = new Lease("s", "bridge/s");
    const { clock, link, stop, kept, done, connect, disposed } = stage(lease);
    const term = new Term(clock, 1, { monotonic: clock.monotonic(), wall: clock.now() }, 60_000);
    let idle = false;
    void term.whenIdle.then(() => (idle = true));
    lease.taken(term);
    connect();
    await turn();
    expect(link.connected).toBe(true);
    term.end();
    await turn();
    expect([link.connected, done.begun, idle]).toEqual([false, 1, false]);
    disposed();
    await turn();
    expect(idle).toBe(true);
    stop.abort(new Error("stopped"));
    await kept;
  });

  test("at once when nothing was open under it", async () => {
    const clock = new FakeClock();
    const term = new Term(clock, 1, { monotonic: clock.monotonic(), wall: clock.now() }, 60_000);
    term.end();
    await expect(term.whenIdle).resolves.toBeUndefined();
  });
});
