import type { OutboxRecord } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { turn } from "../support/fake-clock.ts";
import { heldRoute } from "../support/held-route.ts";
import { bound, type MemoryBridgeOptions } from "../support/memory-bridge.ts";

/** A route, and who reads its source. */
function read(options: MemoryBridgeOptions = {}) {
  const reads: string[] = [];
  const held = heldRoute(options, ({ intake }) => ({
    intake: Object.assign(intake, { attach: () => void reads.push("attach"), detach: () => void reads.push("detach") }),
  }));
  return { ...held, reads };
}

/** Whether it has ended by now. */
async function hasEnded(promise: Promise<unknown>): Promise<boolean> {
  let ended = false;
  void promise.finally(() => (ended = true));
  await turn();
  return ended;
}

test("a route reads its source until it is stopped, is looked at meanwhile, and ends with what it has taken", async () => {
  const { clock, route, sender, receive, reads } = read();
  const stop = new AbortController();
  expect(clock.pending).toBe(0);
  const running = route.run(stop.signal);
  expect([reads, clock.pending]).toEqual([["attach"], 1]);
  receive("m1");
  expect([await hasEnded(running), reads]).toEqual([false, ["attach"]]);
  stop.abort();
  expect([await hasEnded(running), reads]).toEqual([false, ["attach", "detach"]]);
  sender.sends[0]?.accept();
  await running;
  route[Symbol.dispose]();
  await clock.advance(1_000);
  expect(clock.pending).toBe(0);
});

test.each(["retire", "finish"] as const)("a route takes nothing more from its source: %s", async (how) => {
  const { route, reads } = read();
  await route[how](bound());
  expect(reads).toEqual(["detach"]);
});

describe("a route that is to settle what it has", () => {
  const record = { id: "1", bindingId: "out" } as OutboxRecord;

  test("does not wait for its outbox to be empty, unless it is asked to", async () => {
    const { route } = heldRoute({ deliveryMode: "shared_outbox" });
    route.recovered("out", 1);
    const quiesced = route.quiesce(bound(), false);
    expect(await hasEnded(quiesced)).toBe(true);
    const emptied = route.quiesce(bound(), true);
    expect(await hasEnded(emptied)).toBe(false);
    route.recordLeft(record, "dead_lettered", true);
    await emptied;
  });

  test("waits no longer than it may for that either", async () => {
    const { route } = heldRoute({ deliveryMode: "shared_outbox" });
    route.recovered("out", 1);
    const stop = new AbortController();
    const emptied = route.quiesce(stop.signal, true);
    expect(await hasEnded(emptied)).toBe(false);
    stop.abort();
    await emptied;
  });

  test("waits for what is in flight whether it is asked to empty an outbox or not", async () => {
    for (const emptied of [false, true]) {
      const { route, sender, receive } = heldRoute();
      receive("m1");
      await turn();
      const quiesced = route.quiesce(bound(), emptied);
      expect(await hasEnded(quiesced)).toBe(false);
      sender.sends[0]?.accept();
      await quiesced;
    }
  });
});
