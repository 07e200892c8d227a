import { getEventListeners } from "node:events";
import { type Envelope, type Sender } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { Cancelled, SendGuards } from "../../src/route/send-guards.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";

class HeldSender implements Sender {
  readonly sends: { envelope: Envelope; signal: AbortSignal; accept: () => void; refuse: (error: Error) => void }[] =
    [];

  send(envelope: Envelope, _address: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.sends.push({ envelope, signal, accept: resolve, refuse: reject });
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const owner = {};

describe("send_timeout and cancellation of sends", () => {
  test("a send that the target does not answer fails with TIMEOUT at the deadline, and its signal aborts", async () => {
    const clock = new FakeClock();
    using guards = new SendGuards(clock, 1_000);
    const sender = new HeldSender();
    const sent = guards.send(sender, envelopeOf(), "", owner);
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
    const mine = guards.send(sender, envelopeOf(), "", owner).catch((error: unknown) => error);
    const other = guards.send(sender, envelopeOf(), "", {});
    guards.cancel(owner);
    expect(await mine).toBeInstanceOf(Cancelled);
    sender.sends[1]?.accept();
    await other;
  });

  test("a signal is used again after a send that ended, and never after one that was given up", async () => {
    using guards = new SendGuards(new FakeClock(), 1_000);
    const sender = new HeldSender();
    const first = guards.send(sender, envelopeOf(), "", owner);
    sender.sends[0]?.accept();
    await first;
    const second = guards.send(sender, envelopeOf(), "", owner).catch(() => {});
    expect(sender.sends[1]?.signal).toBe(sender.sends[0]?.signal);
    guards.cancel(owner);
    await second;
    void guards.send(sender, envelopeOf(), "", owner).catch(() => {});
    expect(sender.sends[2]?.signal.aborted).toBe(false);
    expect(getEventListeners(sender.sends[2]?.signal ?? new EventTarget(), "abort")).toHaveLength(0);
  });

  test("a late answer to a send that was given up is not heard", async () => {
    using guards = new SendGuards(new FakeClock(), 1_000);
    const sender = new HeldSender();
    const given = guards.send(sender, envelopeOf(), "", owner).catch((error: unknown) => error);
    guards.cancel(owner);
    expect(await given).toBeInstanceOf(Cancelled);
    sender.sends[0]?.refuse(new Error("too late"));
    const next = guards.send(sender, envelopeOf(), "", owner);
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
    await expect(guards.send(broken, envelopeOf(), "", owner)).rejects.toThrow("broken");
  });
});
