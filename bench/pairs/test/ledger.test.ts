import { describe, expect, it } from "vitest";
import { Ledger } from "../../src/load/ledger.ts";

const SIZE = 16;
/** Where a message says when it was sent. */
const SENT_AT = 4;

/** Sends a message, and has it arrive so long after. */
function carry(ledger: Ledger, tookMs: number): void {
  const message = Buffer.alloc(SIZE);
  ledger.send(message, 0);
  message.writeDoubleBE(message.readDoubleBE(SENT_AT) - tookMs, SENT_AT);
  ledger.receive(message);
}

describe("the ledger's clock", () => {
  it("times what arrives while it runs, however often that is", () => {
    const ledger = new Ledger(SIZE);
    carry(ledger, 9e9);
    ledger.startClock();
    carry(ledger, 1e6);
    ledger.stopClock();
    carry(ledger, 9e9);
    ledger.startClock();
    carry(ledger, 2e6);
    carry(ledger, 3e6);
    ledger.stopClock();
    const { p50Ms, maxMs } = ledger.latency();
    expect(Math.floor(p50Ms / 1e6)).toBe(2);
    expect(Math.floor(maxMs / 1e6)).toBe(3);
    expect(ledger.balance()).toEqual({ sent: 5, lost: 0, duplicated: 0, refused: 0 });
  });
});
