import fc from "fast-check";
import { expect, test } from "vitest";
import { Contents } from "../../src/outbox/contents.ts";
import { recordOf } from "./support/records.ts";

test("keeps nothing of what was lent, whichever answer comes first: that it was persisted, or that it is lent", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([...Array(40).keys()], { minLength: 40 }), (answers) => {
      const contents = new Contents();
      for (const answer of answers) {
        const number = Math.floor(answer / 2);
        if (answer % 2 === 0) contents.add(number, recordOf(`${number}`));
        else contents.take(number);
      }
      expect(contents.size).toBe(0);
    }),
  );
});

test("gives a record out once, also when its number is given out again", () => {
  const contents = new Contents();
  contents.take(1);
  contents.add(1, recordOf("first"));
  expect(contents.take(1)).toBeUndefined();
  const record = recordOf("second");
  contents.add(2, record);
  expect(contents.take(2)).toBe(record);
  expect(contents.take(2)).toBeUndefined();
});
