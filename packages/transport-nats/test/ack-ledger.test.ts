import { setImmediate as turn } from "node:timers/promises";
import { BridgeError } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { AckLedger } from "../src/ack-ledger.ts";
import { NatsDelivery } from "../src/nats-delivery.ts";
import { takesReasons } from "../src/server-version.ts";

function ledger(takes = false) {
  const told: string[] = [];
  const released: number[] = [];
  const made = new AckLedger({
    tell: (subject, word) => void told.push(`${subject} ${Buffer.from(word).toString()}`),
    takesReasons: takes,
    onReleased: (sequence) => void released.push(sequence),
    onRoom: () => {},
  });
  const delivery = (sequence: number, subject = `s${sequence}`): NatsDelivery => {
    const info = { stream: "S", deliveryCount: 1, sequence, place: String(sequence), timestamp: "0" };
    const message = { subject: "", payload: Buffer.of() };
    return new NatsDelivery({ message }, info, { ackSubject: subject, releasable: true }, made);
  };
  const open = (sequence: number): NatsDelivery => {
    const opened = delivery(sequence);
    made.open(opened);
    return opened;
  };
  return { told, released, ledger: made, delivery, open };
}

const accepted = (
  outcome: "delivered" | "dead_lettered" | "dropped" | "expired" | "filtered" | "persisted" | "duplicate",
) => ({ kind: "accept", outcome, envelopeId: "x" }) as const;
const LOST = new BridgeError("CONNECTION_LOST", "gone");

describe("what is settled", () => {
  test("in one turn is written together, at its end", async () => {
    const { told, open } = ledger();
    const [a, b] = [open(1), open(2)];
    const settled = [b.settle(accepted("delivered")), a.settle({ kind: "release", delayMs: 1.2 })];
    expect(told).toEqual([]);
    await Promise.all(settled);
    expect(told).toEqual(["s2 +ACK", 's1 -NAK {"delay":2000000}']);
  });

  test.each([
    ["delivered", "+ACK", "+ACK"],
    ["persisted", "+ACK", "+ACK"],
    ["duplicate", "+ACK", "+ACK"],
    ["filtered", "+ACK", "+ACK"],
    ["dead_lettered", "+TERM", "+TERM dead_lettered"],
    ["dropped", "+TERM", "+TERM dropped"],
    ["expired", "+TERM", "+TERM expired"],
  ] as const)("as %s is said as %s, or as %s where the server takes reasons", async (outcome, before, since) => {
    for (const [takes, word] of [
      [false, before],
      [true, since],
    ] as const) {
      const { told, open } = ledger(takes);
      await open(1).settle(accepted(outcome));
      expect(told).toEqual([`s1 ${word}`]);
    }
  });

  test("cannot be refused", async () => {
    const { open } = ledger();
    await expect(open(1).settle({ kind: "refuse", error: LOST })).rejects.toMatchObject({ code: "INTERNAL" });
  });

  test("is told of the latest delivery, when the message has come again meanwhile", async () => {
    const { told, ledger: made, delivery, open } = ledger();
    const held = open(1);
    expect(made.open(delivery(1, "again"))).toBe(false);
    await held.settle(accepted("delivered"));
    expect(told).toEqual(["again +ACK"]);
    expect(made.outstanding).toBe(0);
  });

  test("with a connection that is gone is refused, also when it was settled in the turn in which that went", async () => {
    const { told, ledger: made, open } = ledger();
    const [a, b] = [open(1), open(2)];
    const late = a.settle(accepted("delivered"));
    late.catch(() => {});
    made.lose(LOST);
    await expect(late).rejects.toBe(LOST);
    for (const delivery of [a, b]) {
      await expect(delivery.settle(accepted("delivered"))).rejects.toBe(LOST);
      await expect(delivery.settle({ kind: "release", delayMs: 0 })).rejects.toBe(LOST);
      expect(delivery.signal.aborted).toBe(true);
    }
    await turn();
    expect(told).toEqual([]);
  });

  test("when the connection ends in order is written, and the rest is to be given back", async () => {
    const { told, ledger: made, open } = ledger();
    const [a] = [open(1), open(2), open(3)];
    const told1 = a.settle(accepted("delivered"));
    expect(made.end(LOST)).toEqual(["s2", "s3"]);
    await told1;
    expect(told).toEqual(["s1 +ACK"]);
  });

  test("as to come again is noted, for a consumer that is made anew", async () => {
    const { released, open } = ledger();
    await open(4).settle({ kind: "release", delayMs: 5 });
    expect(released).toEqual([4]);
  });
});

test("what is held is extended from the second time on that the ledger is told to", () => {
  const { told, ledger: made, open } = ledger();
  open(1);
  expect(made.extend()).toBe(0);
  open(2);
  expect(made.extend()).toBe(1);
  expect(made.extend()).toBe(2);
  expect(told).toEqual(["s1 +WPI", "s1 +WPI", "s2 +WPI"]);
});

test.each([
  ["2.9.10", false],
  ["2.10.3", false],
  ["2.10.4", true],
  ["v2.10.11", true],
  ["2.11.0-preview.1", true],
  ["3.0.0", true],
  ["1.99.99", false],
  ["", false],
  ["beta", false],
] as const)("a server of version %j takes reasons: %s", (version, takes) => {
  expect(takesReasons(version)).toBe(takes);
});
