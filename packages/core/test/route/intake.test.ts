import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import type { RouteControl } from "../../src/control/controls.ts";
import type { Admission } from "../../src/route/admission.ts";
import { turn } from "../support/fake-clock.ts";
import { deliveryOf, heldIntake, type Tap } from "../support/held-intake.ts";

describe("what pulls from a source", () => {
  test("asks for one delivery at a time, and for none without a reader or without room", async () => {
    const { tap, intake, readerOf, running, stop } = heldIntake(2);
    const run = running();
    await turn();
    expect(tap.last.asked).toBe(0);
    const { reader, admission, received } = readerOf();
    intake.attach(reader);
    await turn();
    expect(tap.last.asked).toBe(1);
    for (const id of ["a", "b"]) {
      tap.last.give(deliveryOf(id));
      await turn();
    }
    expect([received, tap.last.asked]).toEqual([["a", "b"], 2]);
    admission.release();
    await turn();
    expect(tap.last.asked).toBe(3);
    stop.abort();
    await run;
    expect([tap.openings.length, tap.last.returned]).toEqual([1, true]);
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  });

  test("what comes while nobody reads waits for the next reader, which is the only one that gets it", async () => {
    const { tap, intake, readerOf, running, stop } = heldIntake();
    const [first, second] = [readerOf(), readerOf()];
    intake.attach(first.reader);
    const run = running();
    await turn();
    // Who does not read has nothing to leave.
    intake.detach(second.reader);
    tap.last.give(deliveryOf("a"));
    await turn();
    expect(first.received).toEqual(["a"]);
    intake.detach(first.reader);
    tap.last.give(deliveryOf("b"));
    await turn();
    expect(first.received).toEqual(["a"]);
    intake.attach(second.reader);
    await turn();
    expect([first.received, second.received]).toEqual([["a"], ["b"]]);
    stop.abort();
    await run;
  });

  test("what its source takes back while it waits for the rate leaves its turn to the next, and costs none when it comes so", async () => {
    const { clock, tap, intake, readerOf, running, stop } = heldIntake(1);
    const { reader, admission, received, control } = readerOf();
    control.rate.limit = { messagesPerSecond: 1, burst: 1 };
    intake.attach(reader);
    const run = running();
    const given = async (id: string, signal: AbortSignal): Promise<void> => {
      tap.last.give({ ...deliveryOf(id), signal });
      await turn();
    };
    await turn();
    await given("first", new AbortController().signal);
    expect(received).toEqual(["first"]);
    admission.release();
    await turn();
    const caller = new AbortController();
    await given("given up", caller.signal);
    await clock.advance(900);
    caller.abort();
    await turn();
    await given("gone", AbortSignal.abort());
    await given("next", new AbortController().signal);
    expect(received).toEqual(["first"]);
    await clock.advance(100);
    await turn();
    expect(received).toEqual(["first", "next"]);
    stop.abort();
    await run;
  });

  test.each([
    ["a pause", (control: RouteControl) => control.pause.pause()],
    ["a slot", (_: RouteControl, admission: Admission) => void admission.admit(new AbortController().signal)],
  ])("what its source takes back while it waits for %s is forgotten, and its slot is free", async (_, hinder) => {
    const { tap, intake, readerOf, running, stop } = heldIntake(1);
    const { reader, admission, received, control } = readerOf();
    intake.attach(reader);
    const run = running();
    await turn();
    hinder(control, admission);
    const caller = new AbortController();
    tap.last.give({ ...deliveryOf("given up"), signal: caller.signal });
    await turn();
    caller.abort();
    await turn();
    if (control.pause.paused) control.pause.resume();
    else admission.release();
    await turn();
    tap.last.give(deliveryOf("next"));
    await turn();
    expect([received, admission.hasRoom]).toEqual([["next"], false]);
    admission.release();
    expect(admission.hasRoom).toBe(true);
    stop.abort();
    await run;
  });

  test("a source that only ever has more lets others have their turn, and is asked no more after a stop", async () => {
    const { intake, readerOf, stop, tap } = heldIntake(1_000_000);
    const { reader, received } = readerOf();
    Object.assign(tap.receiver, {
      async *receive() {
        for (;;) yield deliveryOf("m");
      },
    });
    intake.attach(reader);
    const run = intake.run(stop.signal);
    await turn();
    expect(received.length).toBeGreaterThan(0);
    expect(received.length).toBeLessThanOrEqual(512);
    // It does not heed its signal either.
    const before = received.length;
    stop.abort();
    await run;
    expect(received.length).toBeLessThanOrEqual(before + 1);
  });
});

describe("a source that is lost", () => {
  test.each([
    ["fails", (tap: Tap) => tap.last.fail(new Error("connection reset"))],
    ["ends", (tap: Tap) => tap.last.end()],
    ["yields what is no delivery", (tap: Tap) => tap.last.give({ settle: "never" } as never)],
  ])(
    "because it %s is asked again, with backoff that begins anew when it has handed out something",
    async (_, lose) => {
      const { clock, tap, intake, readerOf, running, stop, told } = heldIntake();
      const { reader, received } = readerOf();
      intake.attach(reader);
      const run = running();
      for (let round = 0; round < 2; round++) {
        for (const delayMs of [1_000, 2_000, 4_000]) {
          await turn();
          const before = tap.openings.length;
          lose(tap);
          await turn();
          expect([intake.lost, tap.last.returned]).toEqual([true, true]);
          await clock.advance(delayMs - 1);
          expect(tap.openings.length).toBe(before);
          await clock.advance(1);
          expect([tap.openings.length, intake.lost]).toEqual([before + 1, true]);
        }
        tap.last.give(deliveryOf(`${round}`));
        await turn();
        expect(intake.lost).toBe(false);
      }
      expect(received).toEqual(["0", "1"]);
      expect(told).toEqual(Array.from({ length: 6 }, () => "source lost"));
      stop.abort();
      await run;
    },
  );

  test("because it ends is nobody's mistake", async () => {
    const { tap, intake, readerOf, running, stop, unexpected, causes } = heldIntake();
    intake.attach(readerOf().reader);
    const run = running();
    await turn();
    tap.last.end();
    await turn();
    expect([unexpected, causes]).toEqual([[], ["CONNECTION_LOST"]]);
    stop.abort();
    await run;
  });

  test.each([undefined, null, "a text", {}, { settle: "never" }])(
    "because it has yielded %j: that is no delivery, and the log says so",
    async (yielded) => {
      const { clock, tap, intake, readerOf, running, stop, unexpected } = heldIntake();
      const { reader, received } = readerOf();
      intake.attach(reader);
      const run = running();
      await turn();
      tap.last.give(yielded as never);
      await turn();
      expect([intake.lost, unexpected]).toEqual([true, [["receiver in", "the receiver yielded what is no delivery"]]]);
      await clock.advance(1_000);
      tap.last.give(deliveryOf("a"));
      await turn();
      expect(received).toEqual(["a"]);
      stop.abort();
      await run;
    },
  );

  test("is there again when it says so, but not by the word of what it was before", async () => {
    const { clock, tap, intake, readerOf, running, stop } = heldIntake();
    intake.attach(readerOf().reader);
    const run = running();
    await turn();
    const before = tap.last;
    before.fail(new Error("connection reset"));
    await turn();
    before.present();
    expect(intake.lost).toBe(true);
    await clock.advance(1_000);
    before.present();
    expect(intake.lost).toBe(true);
    tap.last.present();
    expect(intake.lost).toBe(false);
    stop.abort();
    await run;
  });

  test("is not waited for when the intake stops", async () => {
    const { tap, intake, readerOf, running, stop, clock } = heldIntake();
    intake.attach(readerOf().reader);
    const run = running();
    await turn();
    tap.last.fail(new Error("connection reset"));
    await turn();
    stop.abort();
    await run;
    expect([tap.openings.length, clock.pending]).toEqual([1, 0]);
  });
});

describe("beginning anew", () => {
  test("ends the iteration and asks again at once: the source was not lost", async () => {
    const { tap, intake, readerOf, running, stop, told } = heldIntake();
    const { reader, received } = readerOf();
    intake.attach(reader);
    const run = running();
    await turn();
    const [before] = tap.openings;
    intake.restart();
    await turn();
    expect([before?.signal.aborted, before?.returned, tap.openings.length]).toEqual([true, true, 2]);
    tap.last.give(deliveryOf("a"));
    await turn();
    expect([received, intake.lost, told]).toEqual([["a"], false, []]);
    stop.abort();
    await run;
    expect(tap.openings.length).toBe(2);
  });

  test("a source that ends badly is told, and asked all the same", async () => {
    const { tap, intake, readerOf, running, stop, told } = heldIntake();
    tap.onReturn = () => Promise.reject(new Error("still busy"));
    intake.attach(readerOf().reader);
    const run = running();
    await turn();
    intake.restart();
    await turn();
    expect([told, tap.openings.length]).toEqual([["source did not end as it should"], 2]);
    stop.abort();
    await run;
  });

  test("what was pulled and has no room yet is not handed over any more: its source has it", async () => {
    const { tap, intake, readerOf, running, stop } = heldIntake(1);
    const { reader, received, admission } = readerOf();
    intake.attach(reader);
    const run = running();
    await turn();
    // Somebody takes the room while the source is being asked.
    expect(admission.admit(stop.signal)).toBe(true);
    tap.last.give(deliveryOf("a"));
    await turn();
    intake.restart();
    admission.release();
    await turn();
    expect([received, admission.hasRoom, tap.openings.length]).toEqual([[], true, 2]);
    stop.abort();
    await run;
  });
});
