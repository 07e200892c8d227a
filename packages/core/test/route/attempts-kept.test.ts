import { describe, expect, test } from "vitest";
import { turn } from "../support/fake-clock.ts";
import { heldRoute } from "../support/held-route.ts";
import { outage } from "../support/memory-bridge.ts";

const BACKOFF = { initialIntervalMs: 10, maxIntervalMs: 10, multiplier: 1, jitter: 0 };
const CAP = 3;

/** A fan-out to `one` and `two`. */
function stage(onPermanentFailure: "dlq" | "drop") {
  const held = heldRoute({
    dispatchMode: "fan_out",
    bindings: ["one", "two"],
    policy: { maxReplayAttempts: CAP, backoff: BACKOFF, onPermanentFailure },
  });
  const { clock, route, sender, receive } = held;
  const sendsTo = (address: string) => sender.sends.filter((send) => send.address === address);
  const lastTo = (address: string) => {
    const send = sendsTo(address).at(-1);
    if (send === undefined) throw new Error(`nothing was sent to ${address}`);
    return send;
  };
  const fail = async (address: string, times: number): Promise<void> => {
    for (let tries = 0; tries < times; tries++) {
      lastTo(address).refuse(outage);
      await turn();
      await clock.advance(10);
    }
  };
  const accept = async (address: string): Promise<void> => {
    lastTo(address).accept();
    await turn();
  };
  /** Hands `m1` out; returns what takes it back. */
  const hand = async (settle?: () => void): Promise<() => Promise<void>> => {
    const taken = new AbortController();
    receive("m1", { signal: taken.signal, ...(settle !== undefined && { settle }) });
    await turn();
    return async () => {
      taken.abort();
      await turn();
    };
  };
  const ends = () => route.inFlight("m1").map(({ bindingId }) => bindingId);
  return { ...held, sendsTo, fail, accept, hand, ends };
}

describe("spec 1.3: attempts of a leg that has ended are remembered until the source is told of the message", () => {
  test.each([
    { ended: "dropped", policy: "drop", failures: CAP, accepted: false },
    { ended: "dead-lettered", policy: "dlq", failures: CAP, accepted: false },
    { ended: "delivered", policy: "drop", failures: CAP - 1, accepted: true },
  ] as const)("$ended, while another leg is open", async ({ policy, failures, accepted }) => {
    const { sendsTo, fail, accept, hand, ends, settled } = stage(policy);
    const takeBack = await hand();
    await fail("one", failures);
    if (accepted) await accept("one");
    expect(ends()).toEqual(["two"]);
    await takeBack();
    await hand();
    // Each delivery gets one send at least, and no more once the cap is used up.
    await fail("one", 1);
    expect(sendsTo("one").map(({ attempt }) => attempt)).toEqual([1, 2, 3, failures + 1]);
    expect(ends()).toEqual(["two"]);
    await accept("two");
    expect(settled).toHaveLength(1);
    await hand();
    await fail("one", 1);
    expect(sendsTo("one").map(({ attempt }) => attempt)).toEqual([1, 2, 3, failures + 1, 1, 2]);
  });

  test("also when the source could not be told", async () => {
    const { sendsTo, fail, accept, hand } = stage("drop");
    await hand(() => {
      throw outage;
    });
    await fail("one", CAP);
    await accept("two");
    await hand();
    expect(sendsTo("one").at(-1)?.attempt).toBe(CAP + 1);
  });
});
