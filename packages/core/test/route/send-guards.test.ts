import { getEventListeners } from "node:events";
import { inspect } from "node:util";
import { BridgeError, type Sender } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { HistogramStats } from "../../src/accounting/histogram.ts";
import { LegAccount } from "../../src/accounting/leg-account.ts";
import { Cancelled, SendGuards, type SendTarget } from "../../src/route/send-guards.ts";
import { Strays } from "../../src/route/strays.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { HeldSender } from "../support/held-sender.ts";

const owner = {};

/** A target over this sender, with accounts of its own. */
function targetOf(sender: Sender): SendTarget & { readonly account: LegAccount } {
  return { sender, account: new LegAccount("route", "binding") };
}

/** How many sends were entered, and how long they took together. */
function entered({ account }: { readonly account: LegAccount }) {
  const { accepted, failed } = account.read().sends;
  const summary = ({ counts, sum }: HistogramStats) => ({ sends: counts.reduce((all, one) => all + one, 0), ms: sum });
  return { accepted: summary(accepted), failed: summary(failed) };
}

test("what a send to an address that must not be seen has failed with does not quote it", async () => {
  using guards = new SendGuards(new FakeClock(), 1_000);
  const sender = new HeldSender();
  const target = { ...targetOf(sender), hidesAddress: true };
  const failure = async (refusal: Error): Promise<unknown> => {
    const sent = guards.send(target, envelopeOf(), "plant/secret-place", owner);
    sender.sends.at(-1)?.refuse(refusal);
    const [ended] = await Promise.allSettled([sent]);
    return ended.status === "rejected" ? (ended.reason as unknown) : undefined;
  };
  const quoting = new BridgeError("DESTINATION_NOT_FOUND", 'no exchange "secret-place"', { retryAfterMs: 7 });
  const told = await failure(quoting);
  expect(told).toMatchObject({ code: "DESTINATION_NOT_FOUND", retryAfterMs: 7 });
  expect(inspect(told)).not.toContain("secret-p");
  expect(inspect(await failure(new Error("no", { cause: quoting })))).not.toContain("secret-p");
  const harmless = new BridgeError("TIMEOUT", "no answer");
  expect(await failure(harmless)).toBe(harmless);
});

test("an error that quotes an address which may be seen is told as it is", async () => {
  using guards = new SendGuards(new FakeClock(), 1_000);
  const sender = new HeldSender();
  const quoting = new BridgeError("DESTINATION_NOT_FOUND", 'no exchange "plant/open-place"');
  const sent = guards.send(targetOf(sender), envelopeOf(), "plant/open-place", owner);
  sender.sends[0]?.refuse(quoting);
  await expect(sent).rejects.toBe(quoting);
});

describe("send_timeout and cancellation of sends", () => {
  test("a route wakes nobody while it sends nothing", async () => {
    const clock = new FakeClock();
    using guards = new SendGuards(clock, 1_000);
    const sender = new HeldSender();
    const target = targetOf(sender);
    expect(clock.pending).toBe(0);
    for (let round = 0; round < 2; round++) {
      const sent = guards.send(target, envelopeOf(), "a", owner);
      await clock.advance(500);
      expect(clock.pending).toBe(1);
      sender.sends.at(-1)?.accept();
      await sent;
      await clock.advance(100);
      expect(clock.pending).toBe(0);
    }
  });

  test.each([
    [60_000, 250],
    [1_000, 100],
    [20, 5],
  ])("with a send_timeout of %i ms it is looked every %i ms whether a send is over it", (timeoutMs, everyMs) => {
    const looks: number[] = [];
    class TimedClock extends FakeClock {
      override every(ms: number, tick: () => void): Disposable {
        looks.push(ms);
        return super.every(ms, tick);
      }
    }
    using guards = new SendGuards(new TimedClock(), timeoutMs);
    for (let sends = 0; sends < 2; sends++) {
      void guards.send(targetOf(new HeldSender()), envelopeOf(), "", owner).catch(() => {});
    }
    expect(looks).toEqual([everyMs]);
  });

  test("a send that the target does not answer fails with TIMEOUT at the deadline, and its signal aborts", async () => {
    const clock = new FakeClock();
    using guards = new SendGuards(clock, 1_000);
    const sender = new HeldSender();
    const sent = guards.send(targetOf(sender), envelopeOf(), "", owner);
    const failure = sent.catch((error: unknown) => error);
    await clock.advance(900);
    expect(sender.sends[0]?.signal.aborted).toBe(false);
    await clock.advance(250);
    expect(await failure).toMatchObject({ code: "TIMEOUT" });
    expect(sender.sends[0]?.signal.aborted).toBe(true);
  });

  test("cancelling gives up the sends of one owner only, whatever their sender does", async () => {
    using guards = new SendGuards(new FakeClock(), 1_000);
    const sender = new HeldSender();
    const mine = guards.send(targetOf(sender), envelopeOf(), "", owner).catch((error: unknown) => error);
    const other = guards.send(targetOf(sender), envelopeOf(), "", {});
    guards.cancel(owner);
    expect(await mine).toBeInstanceOf(Cancelled);
    sender.sends[1]?.accept();
    await other;
  });

  test("a signal is used again after a send that ended, and never after one that was given up", async () => {
    using guards = new SendGuards(new FakeClock(), 1_000);
    const sender = new HeldSender();
    const first = guards.send(targetOf(sender), envelopeOf(), "", owner);
    sender.sends[0]?.accept();
    await first;
    const second = guards.send(targetOf(sender), envelopeOf(), "", owner).catch(() => {});
    expect(sender.sends[1]?.signal).toBe(sender.sends[0]?.signal);
    guards.cancel(owner);
    await second;
    void guards.send(targetOf(sender), envelopeOf(), "", owner).catch(() => {});
    expect(sender.sends[2]?.signal.aborted).toBe(false);
    expect(getEventListeners(sender.sends[2]?.signal ?? new EventTarget(), "abort")).toHaveLength(0);
  });

  test("a signal is used again after a send that was refused", async () => {
    using guards = new SendGuards(new FakeClock(), 1_000);
    const sender = new HeldSender();
    const first = guards.send(targetOf(sender), envelopeOf(), "", owner).catch(() => {});
    sender.sends[0]?.refuse(new Error("no"));
    await first;
    const second = guards.send(targetOf(sender), envelopeOf(), "", owner);
    expect(sender.sends[1]?.signal).toBe(sender.sends[0]?.signal);
    sender.sends[1]?.accept();
    await second;
  });

  test("what was given up is counted with its sender until it ends, however it does", async () => {
    const clock = new FakeClock();
    using guards = new SendGuards(clock, 1_000);
    const sender = new HeldSender();
    const strays = new Strays(clock);
    for (let calls = 0; calls < 98; calls++) strays.add();
    for (let sends = 0; sends < 2; sends++) {
      void guards.send({ ...targetOf(sender), strays }, envelopeOf(), "", owner).catch(() => {});
    }
    expect(strays.full).toBe(false);
    guards.cancel(owner);
    expect(strays.full).toBe(true);
    sender.sends[0]?.accept();
    await new Promise(setImmediate);
    expect(strays.full).toBe(false);
    strays.add();
    expect(strays.full).toBe(true);
    sender.sends[1]?.refuse(new Error("late"));
    await new Promise(setImmediate);
    expect(strays.full).toBe(false);
  });

  test("what a send returns may be any thenable, and nothing else", async () => {
    using guards = new SendGuards(new FakeClock(), 1_000);
    const returning = (returned: unknown): Sender => ({
      send: () => returned as Promise<void>,
      [Symbol.asyncDispose]: async () => {},
    });
    const send = (returned: unknown) => guards.send(targetOf(returning(returned)), envelopeOf(), "", owner);
    // oxlint-disable-next-line unicorn/no-thenable
    await expect(send({ then: (resolve: () => void) => resolve() })).resolves.toBeUndefined();
    await expect(send(undefined)).rejects.toThrow("the sender did not return a promise");
  });

  test("a promise that says its end twice has ended once", async () => {
    class Twice extends Promise<void> {
      // oxlint-disable-next-line unicorn/no-thenable
      override then<A = void, B = never>(
        onDone?: ((value: void) => A | PromiseLike<A>) | null,
        onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
      ): Promise<A | B> {
        void super.then(onDone, onFailed);
        return super.then(onDone, onFailed);
      }
    }
    const clock = new FakeClock();
    using guards = new SendGuards(clock, 1_000);
    const sender: Sender = { send: () => Twice.resolve(), [Symbol.asyncDispose]: async () => {} };
    const target = { ...targetOf(sender), strays: new Strays(clock) };
    await guards.send(target, envelopeOf(), "", owner);
    await new Promise(setImmediate);
    expect(entered(target).accepted.sends).toBe(1);
    for (let calls = 0; calls < 100; calls++) target.strays.add();
    expect(target.strays.full).toBe(true);
  });

  test("why a send was given up is told to its sender", async () => {
    const clock = new FakeClock();
    const guards = new SendGuards(clock, 1_000);
    const sender = new HeldSender();
    const send = () => void guards.send(targetOf(sender), envelopeOf(), "", owner).catch(() => {});
    send();
    await clock.advance(1_100);
    send();
    guards.cancel(owner);
    send();
    guards[Symbol.dispose]();
    expect(sender.sends.map(({ signal }) => String(signal.reason))).toEqual([
      "BridgeError: the target did not answer within 1000 ms",
      "Cancelled: cancelled",
      "Cancelled: stopped",
    ]);
    expect(clock.pending).toBe(0);
  });

  test("a late answer to a send that was given up is not heard", async () => {
    using guards = new SendGuards(new FakeClock(), 1_000);
    const sender = new HeldSender();
    const given = guards.send(targetOf(sender), envelopeOf(), "", owner).catch((error: unknown) => error);
    guards.cancel(owner);
    expect(await given).toBeInstanceOf(Cancelled);
    sender.sends[0]?.refuse(new Error("too late"));
    const next = guards.send(targetOf(sender), envelopeOf(), "", owner);
    sender.sends[1]?.accept();
    await expect(next).resolves.toBeUndefined();
  });

  test("a sender that throws at once has failed like one that rejects", async () => {
    using guards = new SendGuards(new FakeClock(), 1_000);
    const broken = {
      send: () => {
        throw new Error("broken");
      },
      [Symbol.asyncDispose]: async () => {},
    };
    await expect(guards.send(targetOf(broken), envelopeOf(), "", owner)).rejects.toThrow("broken");
  });
});

describe("how long sends take", () => {
  test("is entered by how they ended, from the handing over; whoever waits can read when that was", async () => {
    const clock = new FakeClock();
    using guards = new SendGuards(clock, 1_000);
    const sender = new HeldSender();
    const target = targetOf(sender);
    const startedAt = clock.monotonic();
    const accepted = guards.send(target, envelopeOf(), "", owner, 1, startedAt);
    const refused = guards.send(target, envelopeOf(), "", owner).catch(() => {});
    await clock.advance(40);
    sender.sends[0]?.accept();
    await accepted;
    expect(guards.acceptedAt).toBe(startedAt + 40);
    await clock.advance(30);
    sender.sends[1]?.refuse(new Error("no"));
    await refused;
    expect(entered(target)).toEqual({ accepted: { sends: 1, ms: 40 }, failed: { sends: 1, ms: 70 } });
  });

  test("of one that is not answered in time is entered once, with the time until it was given up", async () => {
    const clock = new FakeClock();
    using guards = new SendGuards(clock, 1_000);
    const sender = new HeldSender();
    const target = targetOf(sender);
    const sent = guards.send(target, envelopeOf(), "", owner).catch(() => {});
    await clock.advance(1_100);
    await sent;
    sender.sends[0]?.accept();
    await clock.advance(1_000);
    expect(entered(target)).toEqual({ accepted: { sends: 0, ms: 0 }, failed: { sends: 1, ms: 1_000 } });
  });

  test("of one that was cancelled says nothing about its target", async () => {
    using guards = new SendGuards(new FakeClock(), 1_000);
    const sender = new HeldSender();
    const target = targetOf(sender);
    const sent = guards.send(target, envelopeOf(), "", owner).catch(() => {});
    guards.cancel(owner);
    await sent;
    sender.sends[0]?.refuse(new Error("too late"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(entered(target)).toEqual({ accepted: { sends: 0, ms: 0 }, failed: { sends: 0, ms: 0 } });
  });
});
