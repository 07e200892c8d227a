import fc from "fast-check";
import { expect, test } from "vitest";
import { Bag } from "../src/bag.ts";

const entry = fc.record({ enters: fc.boolean(), member: fc.nat(9) });

test("a bag holds what a set would hold, and says of each who leaves whether it was there", () => {
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      const members = Array.from({ length: 10 }, (_, name) => ({ name, place: -1 }));
      const bag = new Bag<{ readonly name: number; place: number }>();
      const model = new Set<number>();
      for (const { enters, member: name } of entries) {
        const member = members[name]!;
        if (!enters) expect(bag.delete(member)).toBe(model.delete(name));
        else if (!model.has(name)) {
          model.add(name);
          bag.add(member);
        }
        expect(new Set(Array.from(bag, (one) => one.name))).toEqual(model);
      }
    }),
  );
});

test("those who are in when a bag is gone through are all met, also when each leaves as it is met", () => {
  const bag = new Bag<{ place: number }>();
  const members = [{ place: -1 }, { place: -1 }, { place: -1 }];
  for (const member of members) bag.add(member);
  const met = [];
  for (const member of bag) {
    bag.delete(member);
    met.push(member);
  }
  expect(met).toEqual(members);
  expect([...bag]).toEqual([]);
});
