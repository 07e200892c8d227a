import { BridgeError } from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AckLedger } from "../src/ack-ledger.ts";

/** The broker's side of one channel: it closes the channel over a tag that it does not wait for. */
function strictBroker() {
  const unacknowledged = new Set<number>();
  const requeued: number[] = [];
  const frames: string[] = [];
  const take = (tag: number, upTo: boolean): readonly number[] => {
    expect(unacknowledged, "PRECONDITION_FAILED - unknown delivery tag").toContain(tag);
    const taken = upTo ? [...unacknowledged].filter((other) => other <= tag) : [tag];
    for (const one of taken) unacknowledged.delete(one);
    return taken;
  };
  return {
    unacknowledged,
    requeued,
    frames,
    channel: {
      ack(tag: number, upTo: boolean) {
        frames.push(`${tag}${upTo ? "+" : ""}`);
        take(tag, upTo);
      },
      nack(tag: number) {
        requeued.push(...take(tag, false));
      },
    },
  };
}

function ledgerOf(count: number) {
  const broker = strictBroker();
  const ledger = new AckLedger(broker.channel);
  for (let tag = 1; tag <= count; tag++) {
    broker.unacknowledged.add(tag);
    ledger.open(tag);
  }
  return { broker, ledger };
}

test("acknowledges in one frame what leaves nothing older behind, and the rest one by one", async () => {
  const { broker, ledger } = ledgerOf(6);
  await Promise.all([3, 1, 5, 2].map((tag) => ledger.accept(tag)));
  expect(broker.frames).toEqual(["5", "3+"]);
  await Promise.all([6, 4].map((tag) => ledger.accept(tag)));
  expect(broker.frames.slice(2)).toEqual(["6+"]);
  expect(broker.unacknowledged.size).toBe(0);
});

test("whatever is settled when, exactly that is settled at the broker, and no tag twice", async () => {
  const step = fc.record({ accepted: fc.boolean(), order: fc.nat(), turn: fc.nat(3) });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(step), { maxLength: 40 }), async (steps) => {
      const { broker, ledger } = ledgerOf(steps.length);
      const settled = steps
        .map((one, index) => ({ tag: index + 1, ...one }))
        .filter((one) => one.order !== undefined)
        .toSorted((a, b) => (a.turn ?? 0) - (b.turn ?? 0) || (a.order ?? 0) - (b.order ?? 0));
      for (let turn = 0; turn <= 3; turn++) {
        for (const one of settled.filter((other) => other.turn === turn)) {
          if (one.accepted === true) void ledger.accept(one.tag);
          else ledger.release(one.tag);
        }
        ledger.flush();
      }
      const left = steps.map((_, index) => index + 1).filter((tag) => !settled.some((one) => one.tag === tag));
      expect([...broker.unacknowledged]).toEqual(left);
      const released = settled.filter((one) => one.accepted === false).map((one) => one.tag);
      expect(broker.requeued.toSorted((a, b) => a - b)).toEqual(released.toSorted((a, b) => a - b));
      expect(ledger.outstanding).toBe(left.length);
    }),
  );
});

test("settles nothing any more when its channel is gone", async () => {
  const { broker, ledger } = ledgerOf(2);
  const late = ledger.accept(1);
  ledger.lose(new BridgeError("CONNECTION_LOST", "gone"));
  ledger.release(2);
  ledger.flush();
  await expect(late).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  await expect(ledger.accept(2)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  expect(ledger.signal.aborted).toBe(true);
  expect(broker.frames).toEqual([]);
});

test("an acknowledgement that the channel does not take is refused, and nothing else fails", async () => {
  const closing = (): never => {
    throw new Error("Channel closing");
  };
  const ledger = new AckLedger({ ack: closing, nack: closing });
  ledger.open(1);
  ledger.open(2);
  await expect(ledger.accept(1)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  expect(() => ledger.release(2)).not.toThrow();
});
