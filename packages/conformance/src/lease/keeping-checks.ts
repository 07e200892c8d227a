import assert from "node:assert/strict";
import { type LeaseCheck, lease, withStore } from "./check.ts";

/** Keys that are easily taken for each other, or for something else. */
const KEYS = [
  "a",
  "A",
  "a ",
  " a",
  "a/b",
  "a/",
  "/a",
  "a%2Fb",
  "a.b",
  "a-b",
  "a_b",
  "a*",
  "a#",
  "a?",
  "a\\b",
  "a'b",
  'a"b',
  "a\nb",
  "\u00e9",
  "e\u0301",
  "\u{1f512}",
  "__proto__",
  "constructor",
  "0",
  "00",
  "null",
  "undefined",
  `${"k".repeat(64)}/${"s".repeat(64)}`,
  `${"k".repeat(64)}/${"s".repeat(63)}t`,
  "x".repeat(512),
  "\u00fc".repeat(512),
] as const;

/** That what was written is what is read. */
export const KEEPING_CHECKS = {
  "a lease that nobody has taken is absent": withStore(async (owner) => owner.find(undefined)),
  "gives back every field": withStore(async (owner) => {
    const record = { holder: "plant-7-a/5f1d", token: 7, beat: 31, ttlMs: 12_345 };
    await owner.make(undefined, record);
    await owner.find(record);
  }),
  "gives back the least and the greatest numbers": withStore(async (owner) => {
    const least = { holder: "a", token: 0, beat: 0, ttlMs: 1 };
    const greatest = {
      holder: "a",
      token: Number.MAX_SAFE_INTEGER,
      beat: Number.MAX_SAFE_INTEGER - 1,
      ttlMs: 86_400_000,
    };
    await owner.make(undefined, least);
    await owner.find(least);
    await owner.make(least, greatest);
    await owner.find(greatest);
    await owner.refuse({ ...greatest, token: greatest.token - 1 }, least);
    await owner.refuse({ ...greatest, beat: greatest.beat - 1 }, least);
    await owner.make(greatest, least);
  }),
  "gives back a holder that is empty: the lease was released": withStore(async (owner) => {
    await owner.make(undefined, lease());
    await owner.make(lease(), lease({ holder: "", beat: 2 }));
    await owner.find(lease({ holder: "", beat: 2 }));
  }),
  "gives back holders of any characters": withStore(async (owner) => {
    for (const [beat, holder] of ["\u00e9\u{1f512}", "a b", " ", "null", '{"a":1}', "x".repeat(512)].entries()) {
      await owner.make(beat === 0 ? undefined : lease({ beat: beat - 1 }), lease({ holder, beat }));
      await owner.find(lease({ holder, beat }));
    }
  }),
  "reads what it has just written, each time": withStore(async (owner) => {
    for (let beat = 0; beat < 50; beat++) {
      await owner.make(beat === 0 ? undefined : lease({ beat: beat - 1 }), lease({ beat }));
      await owner.find(lease({ beat }));
    }
  }),
  "another instance reads what was just written, each time": withStore(async (owner, other) => {
    for (let beat = 0; beat < 50; beat++) {
      const [writer, reader] = beat % 2 === 0 ? [owner, other] : [other, owner];
      await writer.make(beat === 0 ? undefined : lease({ beat: beat - 1 }), lease({ beat }));
      await reader.find(lease({ beat }));
    }
  }),
  "leases under different keys are different leases": withStore(async (owner) => {
    await owner.make(undefined, lease({ token: 1 }), "plant-7/one");
    await owner.find(undefined, "plant-7/other");
    await owner.make(undefined, lease({ token: 2 }), "plant-7/other");
    await owner.make(lease({ token: 1 }), lease({ token: 3 }), "plant-7/one");
    await owner.find(lease({ token: 3 }), "plant-7/one");
    await owner.find(lease({ token: 2 }), "plant-7/other");
  }),
  "keys of odd characters and lengths are told apart": withStore(async (owner) => {
    await Promise.all(KEYS.map((key, token) => owner.make(undefined, lease({ token }), key)));
    await Promise.all(KEYS.map((key, token) => owner.find(lease({ token }), key)));
  }),
  "does not follow when the record that it was given changes, nor the one that it gave out": withStore(
    async (owner) => {
      const given = { ...lease() };
      await owner.make(undefined, given);
      given.token = 99;
      const got = await owner.read();
      await owner.find(lease());
      assert.ok(got !== undefined);
      // A store may well give out what cannot be changed.
      Reflect.set(got, "token", 99);
      await owner.find(lease());
    },
  ),
} as const satisfies Record<string, LeaseCheck>;
