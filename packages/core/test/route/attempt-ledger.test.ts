import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AttemptLedger } from "../../src/route/attempt-ledger.ts";

describe("spec 1.3: the attempt ledger", () => {
  test("remembers attempts until the terminal settle", () => {
    const ledger = new AttemptLedger(10);
    ledger.record("a", { attempts: 2, since: 5 });
    expect(ledger.get("a")).toEqual({ attempts: 2, since: 5 });
    ledger.evict("a");
    expect(ledger.get("a")).toBeUndefined();
    expect(ledger.size).toBe(0);
  });

  test("is bounded, the least recently recorded message goes first: as a model of a list says", () => {
    const steps = fc.array(fc.tuple(fc.constantFrom("record", "evict"), fc.constantFrom(..."abcdefgh")), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), (given, capacity) => {
        const ledger = new AttemptLedger(capacity);
        let model: { key: string; attempts: number }[] = [];
        given.forEach(([step, key], attempts) => {
          model = model.filter((record) => record.key !== key);
          if (step === "evict") ledger.evict(key);
          else {
            ledger.record(key, { attempts, since: 0 });
            model = [...model, { key, attempts }].slice(-capacity);
          }
          expect(ledger.size).toBe(model.length);
          for (const record of model) expect(ledger.get(record.key)?.attempts).toBe(record.attempts);
        });
      }),
    );
  });
});
