import { BridgeError } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AckLedger, type Held } from "../src/ack-ledger.ts";

const LOST = new BridgeError("CONNECTION_LOST", "gone");

function ledger(order: "connection" | "any"): { readonly ledger: AckLedger; readonly written: number[] } {
  const written: number[] = [];
  return { ledger: new AckLedger(order, (packetId) => written.push(packetId)), written };
}

/** Packet identifiers in the order of their receipt, and the order in which they are settled. */
const settleOrders = fc.integer({ min: 1, max: 60 }).chain((count) => {
  const packetIds = Array.from({ length: count }, (_, i) => ((i * 7_919) % 65_535) + 1);
  return fc.record({
    packetIds: fc.constant(packetIds),
    settled: fc.shuffledSubarray(
      packetIds.map((_, index) => index),
      { minLength: 0 },
    ),
  });
});

describe("acknowledgements in the order of receipt", () => {
  test("whatever the order of settling, each goes out after all before it, and as soon as they have", () => {
    fc.assert(
      fc.property(settleOrders, ({ packetIds, settled }) => {
        const { ledger: acks, written } = ledger("connection");
        const held = packetIds.map((packetId) => acks.open(packetId, 1));
        const accepted = new Set<number>();
        for (const index of settled) {
          accepted.add(index);
          acks.accept(held[index]!);
          const ready = packetIds.findIndex((_, i) => !accepted.has(i));
          expect(written).toEqual(packetIds.slice(0, ready === -1 ? packetIds.length : ready));
        }
      }),
    );
  });

  test("a settlement tells when it is really written: at once, or when its turn has come", async () => {
    const { ledger: acks, written } = ledger("connection");
    const [first, second] = [acks.open(1, 1), acks.open(2, 1)];
    acks.accept(second);
    const waiting = acks.whenWritten(second);
    expect(waiting).toBeInstanceOf(Promise);
    expect(written).toEqual([]);
    acks.accept(first);
    expect(acks.whenWritten(first)).toBeUndefined();
    await waiting;
    expect(written).toEqual([1, 2]);
  });

  test("before a connection is closed on purpose, what waits for its turn goes out, still in order", async () => {
    const { ledger: acks, written } = ledger("connection");
    const held = [1, 2, 3, 4].map((packetId) => acks.open(packetId, 1));
    acks.accept(held[3]!);
    acks.accept(held[1]!);
    const waiting = acks.whenWritten(held[3]!);
    acks.finish();
    await waiting;
    expect(written).toEqual([2, 4]);
  });
});

test("in any order, each goes out at once", () => {
  fc.assert(
    fc.property(settleOrders, ({ packetIds, settled }) => {
      const { ledger: acks, written } = ledger("any");
      const held = packetIds.map((packetId) => acks.open(packetId, 1));
      for (const index of settled) acks.accept(held[index]!);
      expect(written).toEqual(settled.map((index) => packetIds[index]));
    }),
  );
});

test.each(["connection", "any"] as const)(
  "a message of several receivers goes out when all have accepted it (%s)",
  async (order) => {
    const { ledger: acks, written } = ledger(order);
    const held = acks.open(1, 2);
    acks.accept(held);
    const waiting = acks.whenWritten(held);
    expect(written).toEqual([]);
    acks.accept(held);
    await waiting;
    expect(written).toEqual([1]);
  },
);

test.each(["connection", "any"] as const)("nothing is written once the connection is lost (%s)", async (order) => {
  const { ledger: acks, written } = ledger(order);
  const held: Held[] = [1, 2, 3].map((packetId) => acks.open(packetId, 2));
  acks.accept(held[1]!);
  const waiting = acks.whenWritten(held[1]!);
  expect(acks.signal.aborted).toBe(false);
  acks.lose(LOST);
  expect(acks.signal.reason).toBe(LOST);
  await expect(waiting).rejects.toBe(LOST);
  acks.accept(held[0]!);
  acks.finish();
  await expect(acks.whenWritten(held[0]!)).rejects.toBe(LOST);
  expect(written).toEqual([]);
});

test.each(["connection", "any"] as const)("what is acknowledged holds on to nothing after it (%s)", (order) => {
  const { ledger: acks, written } = ledger(order);
  const held = [1, 2, 3].map((packetId) => acks.open(packetId, 1));
  for (const one of held.slice(0, 2)) acks.accept(one);
  for (const one of held.slice(0, 2)) expect([one.before, one.after]).toEqual([undefined, undefined]);
  acks.accept(held[2]!);
  expect(written).toEqual([1, 2, 3]);
});
