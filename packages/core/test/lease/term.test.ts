import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { Lease } from "../../src/lease/lease.ts";
import { instantOf, Term } from "../../src/lease/term.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

const TTL_MS = 20_000;
/** A holder counts its ttl for a hundredth shorter than others do. */
const LASTS_MS = TTL_MS * 0.99;

/** A monotonic clock and a time of day that a test moves on their own. */
class TwoClocks extends FakeClock {
  wallMs = 5_000_000;

  override now(): number {
    return this.wallMs;
  }
}

function begun() {
  const clock = new TwoClocks();
  const term = new Term(clock, 1, instantOf(clock), TTL_MS);
  const pass = (monotonicMs: number, wallMs = monotonicMs): void => {
    clock.skip(monotonicMs);
    clock.wallMs += wallMs;
  };
  return { clock, term, pass };
}

async function hasEnded(waiting: Promise<unknown>): Promise<boolean> {
  let ended = false;
  void waiting.then(() => (ended = true));
  await turn();
  return ended;
}

describe("a term", () => {
  test.each([
    ["both clocks say so", LASTS_MS - 1, LASTS_MS - 1],
    ["the monotonic one says so", LASTS_MS - 1, 0],
    ["the time of day says so", 0, LASTS_MS - 1],
  ])("is over, for good, when %s", (_, monotonicMs, wallMs) => {
    const { term, pass } = begun();
    pass(monotonicMs, wallMs);
    expect([term.live, term.ended]).toEqual([true, false]);
    pass(Math.sign(monotonicMs), Math.sign(wallMs));
    expect([term.live, term.ended, term.signal.aborted]).toEqual([false, true, true]);
    expect(term.signal.reason).toMatchObject({ code: "UNAVAILABLE", charged: false });
    pass(-TTL_MS);
    expect([term.live, term.lasts(1)]).toEqual([false, false]);
  });

  test("what takes longer than it lasts may not begin: it is asked to be renewed, and ends only when it is over", async () => {
    const { clock, term, pass } = begun();
    pass(LASTS_MS - 1_000);
    expect(term.lasts(999)).toBe(true);
    expect(await hasEnded(term.wanted)).toBe(false);
    const renewed = term.whenRenewed;
    expect([term.lasts(1_000), term.ended]).toEqual([false, false]);
    expect([await hasEnded(term.wanted), await hasEnded(renewed)]).toEqual([true, false]);
    term.renew(instantOf(clock), TTL_MS);
    expect(await hasEnded(renewed)).toBe(true);
    expect(await hasEnded(term.wanted)).toBe(false);
    expect(term.lasts(LASTS_MS - 1)).toBe(true);
  });

  test("who waits for a renewal goes on when it ends, and does not begin to wait afterwards", async () => {
    const { term } = begun();
    const renewed = term.whenRenewed;
    term.end();
    term.end();
    expect([await hasEnded(renewed), await hasEnded(term.whenRenewed)]).toEqual([true, true]);
  });

  test("is idle when it has ended and the last of what was open under it has closed", async () => {
    const { term } = begun();
    const open = [1, 2, 3].map(() => Promise.withResolvers<void>());
    const [first, second, third] = open.map(({ promise }) => term.use(() => promise));
    open[0]?.resolve();
    await first;
    expect(await hasEnded(term.whenIdle)).toBe(false);
    term.end();
    expect(await hasEnded(term.whenIdle)).toBe(false);
    open[1]?.resolve();
    await second;
    expect(await hasEnded(term.whenIdle)).toBe(false);
    open[2]?.reject(new Error("closed badly"));
    await expect(third).rejects.toThrow("closed badly");
    expect(await hasEnded(term.whenIdle)).toBe(true);
  });

  test("is not idle because nothing was open for a while before it ended", async () => {
    const { term } = begun();
    await term.use(async () => {});
    expect(await hasEnded(term.whenIdle)).toBe(false);
    const later = Promise.withResolvers<void>();
    const using = term.use(() => later.promise);
    term.end();
    expect(await hasEnded(term.whenIdle)).toBe(false);
    later.resolve();
    await using;
    expect(await hasEnded(term.whenIdle)).toBe(true);
  });

  test("under which nothing was ever open is idle when it ends", async () => {
    const { term } = begun();
    term.end();
    expect(await hasEnded(term.whenIdle)).toBe(true);
  });
});

describe("a lease", () => {
  test("is waited for again after each term, and leaves nothing at the signals of those who waited", async () => {
    const { clock } = begun();
    const lease = new Lease("s", "bridge/s");
    const { signal } = new AbortController();
    expect([lease.held, lease.term, lease.elsewhere]).toEqual([false, undefined, false]);
    for (let token = 1; token <= 3; token++) {
      const held = lease.whenHeld(signal);
      expect(await hasEnded(held)).toBe(false);
      lease.seenElsewhere(true);
      const term = new Term(clock, token, instantOf(clock), TTL_MS);
      lease.taken(term);
      expect([await held, lease.held, lease.elsewhere]).toEqual([term, true, false]);
      expect(await lease.whenHeld(signal)).toBe(term);
      term.end();
      expect([lease.held, lease.term]).toEqual([false, undefined]);
    }
    expect(getEventListeners(signal, "abort")).toEqual([]);
    const stop = new AbortController();
    const waiting = lease.whenHeld(stop.signal);
    stop.abort(new Error("the route stops"));
    await expect(waiting).rejects.toThrow("the route stops");
  });
});
