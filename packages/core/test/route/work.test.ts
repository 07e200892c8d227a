import type { Delivery, Envelope } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { PauseSwitch } from "../../src/control/pause-switch.ts";
import { instantOf, Term } from "../../src/lease/term.ts";
import { Work } from "../../src/route/work.ts";
import { FakeClock } from "../support/fake-clock.ts";

function work(term?: Term): Work {
  const envelope = { id: "1" } as Envelope;
  const delivery = { message: envelope, settle: () => {} } as unknown as Delivery;
  return new Work({ delivery, envelope, origin: "received", startedAt: 0, term });
}

describe("until", () => {
  it("ends as what it waits for ends", async () => {
    await expect(work().until(Promise.resolve())).resolves.toBeUndefined();
    await expect(work().until(Promise.reject(new Error("lost")))).rejects.toThrow("lost");
  });

  it("waits no longer than the work goes on, however long the source takes to answer", async () => {
    const cancelled = work();
    const told = cancelled.until(new Promise(() => {}));
    cancelled.cancel();
    await expect(told).rejects.toMatchObject({ message: "the work was cancelled" });
  });

  it("rejects for work that was cancelled before, and hears nothing of a late failure", async () => {
    const cancelled = work();
    cancelled.cancel();
    const late = Promise.withResolvers<void>();
    await expect(cancelled.until(late.promise)).rejects.toMatchObject({ message: "the work was cancelled" });
    late.reject(new Error("lost"));
    await new Promise(setImmediate);
  });
});

describe("cancellation", () => {
  it("aborts the signal, whether it was asked for before or after", () => {
    const [before, after] = [work(), work()];
    const { signal } = before;
    expect([before.cancelled, signal.aborted]).toEqual([false, false]);
    before.cancel();
    after.cancel();
    expect([before.cancelled, signal.aborted, before.signal]).toEqual([true, true, signal]);
    expect([after.cancelled, after.signal.aborted]).toEqual([true, true]);
  });

  it("comes with the end of the lease that the work came under", () => {
    const clock = new FakeClock();
    const term = new Term(clock, 1, instantOf(clock), 1_000);
    const leased = work(term);
    expect(leased.cancelled).toBe(false);
    clock.skip(1_000);
    expect([leased.cancelled, leased.signal.aborted]).toEqual([true, true]);
  });
});

describe("the time", () => {
  it("is that of the start as long as nothing was waited for, and that of the clock after", async () => {
    const clock = new FakeClock();
    const [idle, waited, paused, parked] = [work(), work(), work(), work()];
    waited.waited();
    const pausing = paused.pause(clock, 100);
    await parked.park(new PauseSwitch());
    await clock.advance(100);
    await pausing;
    expect(idle.now(clock)).toBe(0);
    for (const each of [waited, paused, parked]) expect(each.now(clock)).toBe(clock.monotonic());
  });
});

describe("a pause", () => {
  it("parks the work until the last of its legs goes on", async () => {
    const parked = work();
    const [one, other] = [new PauseSwitch(), new PauseSwitch()];
    one.pause();
    other.pause();
    const waiting = [parked.park(one), parked.park(other)];
    expect(parked.parked).toBe(true);
    one.resume();
    await waiting[0];
    expect(parked.parked).toBe(true);
    other.resume();
    await waiting[1];
    expect(parked.parked).toBe(false);
  });

  it("of so many milliseconds lasts as long", async () => {
    const clock = new FakeClock();
    let over = false;
    void work()
      .pause(clock, 100)
      .then(() => (over = true));
    await clock.advance(99);
    expect(over).toBe(false);
    await clock.advance(1);
    expect(over).toBe(true);
  });

  it("is cut short by a cancellation, and so is a wait", async () => {
    const clock = new FakeClock();
    const [parked, waiting] = [work(), work()];
    const pause = new PauseSwitch();
    pause.pause();
    const ended = Promise.all([parked.park(pause), waiting.pause(clock, 1_000)]);
    parked.cancel();
    waiting.cancel();
    await ended;
    expect([parked.parked, clock.pending]).toEqual([false, 0]);
  });
});
