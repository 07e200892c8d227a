import { type Connection, silentLogger, type Session } from "@bridge/ports";
import { afterEach, expect, test, vi } from "vitest";
import { keepLink } from "../../src/session/keep-link.ts";
import { Link } from "../../src/session/link.ts";
import { FakeClock } from "../support/fake-clock.ts";

afterEach(() => void vi.useRealTimers());

test("a broker that does not acknowledge subscriptions, and never fails either, is left after 30 s and asked again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let closed = 0;
  const connection: Connection = {
    closed: new Promise(() => {}),
    reconcile: () => new Promise(() => {}),
    async [Symbol.asyncDispose]() {
      closed++;
    },
  };
  const session: Session = {
    subscriptions: new Set(["in"]),
    connect: async () => connection,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const clock = new FakeClock();
  const link = new Link({ sessionId: "s", role: "source", session });
  const stop = new AbortController();
  const seams = { clock, random: { next: () => 0.5, id: () => "" }, logger: silentLogger };
  const kept = keepLink(link, seams, stop.signal);
  await vi.advanceTimersByTimeAsync(29_000);
  expect([link.failures, closed]).toEqual([0, 0]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([link.failures, link.lastError?.code, closed]).toEqual([1, "TIMEOUT", 1]);
  stop.abort(new Error("stopped"));
  await kept;
});
