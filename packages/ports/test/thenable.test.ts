/* oxlint-disable unicorn/no-thenable -- what is a promise is what this is about */
import fc from "fast-check";
import { expect, test } from "vitest";
import { isThenable } from "../src/thenable.ts";

const then = (resolve: (value: string) => void): void => resolve("waited for");
const holders = fc.constantFrom<() => object>(
  () => ({}),
  () => [],
  () => () => {},
  () => Object.create(null) as object,
  () => Object.create({ then }) as object,
);
const values = fc.oneof(
  fc.anything(),
  fc
    .tuple(holders, fc.oneof(fc.constant(then), fc.anything()))
    .map(([holder, value]) => Object.assign(holder(), { then: value })),
  holders.map((holder) => holder()),
);

test("a value is a promise exactly when await waits for it", async () => {
  await fc.assert(
    fc.asyncProperty(values, async (value) => {
      expect(isThenable(value)).toBe((await value) === "waited for");
    }),
  );
});
