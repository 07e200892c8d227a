import { expect, test } from "vitest";
import { EntryFates } from "../../src/outbox/entry-fates.ts";

test.each([
  { told: [], byOthers: false },
  { told: [false], byOthers: true },
  { told: [false, false], byOthers: true },
  { told: [true], byOthers: false },
  { told: [true, false], byOthers: false },
  { told: [false, true], byOthers: false },
])("others have deleted a dead letter when every drain found it gone, and none deleted it: $told", (given) => {
  const fates = new EntryFates();
  for (const deleted of given.told) fates.told("entry", deleted);
  using watch = fates.watch("entry");
  expect(watch.deletedByOthers).toBe(false);
  for (const deleted of given.told) {
    fates.told("other", !deleted);
    fates.told("entry", deleted);
  }
  expect(watch.deletedByOthers).toBe(given.byOthers);
});

test("the end of a watch does not end the next one of its entry", () => {
  const fates = new EntryFates();
  const former = fates.watch("entry");
  using watch = fates.watch("entry");
  former[Symbol.dispose]();
  fates.told("entry", false);
  expect([former.deletedByOthers, watch.deletedByOthers]).toEqual([false, true]);
});

test("a watch that has ended hears nothing more", () => {
  const fates = new EntryFates();
  const watch = fates.watch("entry");
  watch[Symbol.dispose]();
  fates.told("entry", false);
  expect(watch.deletedByOthers).toBe(false);
});
