import { SuiteClock } from "@bridge/conformance";
import { systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { entryOf } from "../../src/outbox/entry.ts";
import type { Lane } from "../../src/outbox/lane.ts";
import { LaneQueue } from "../../src/outbox/lane-queue.ts";
import { Loans } from "../../src/outbox/loans.ts";

const LOAN_MS = 1_000;

function lent() {
  const clock = new SuiteClock(1_000_000);
  const queue = new LaneQueue();
  const lane = { queue } as unknown as Lane;
  const loans = new Loans(clock, systemRandom());
  const lend = (number: number, loanMs = LOAN_MS) => {
    const entry = entryOf({ number, id: `${number}`, key: undefined, attempts: 0, dueAt: 0 });
    queue.add(entry, clock.monotonic());
    queue.take([], 1, clock.monotonic());
    return { entry, loan: loans.lend(entry, lane, loanMs) };
  };
  return { clock, loans, lend, ...lend(1) };
}

test("each loan lapses in its time, whichever lapses before", async () => {
  const { clock, entry, loans, lend } = lent();
  const later = lend(2, 3 * LOAN_MS);
  const last = lend(3, 4 * LOAN_MS);
  const places = () => [entry, later.entry, last.entry].map(({ place }) => place);
  await clock.pass(LOAN_MS);
  loans.lapse();
  expect(places()).toEqual(["ready", "lent", "lent"]);
  await clock.pass(2 * LOAN_MS);
  loans.lapse();
  expect(places()).toEqual(["ready", "ready", "lent"]);
});

test("a loan whose end could not be written lapses when it would have, also when its time was over meanwhile", async () => {
  const { clock, entry, loans, loan } = lent();
  loans.begin(loan, Promise.resolve(false));
  await clock.pass(LOAN_MS);
  loans.lapse();
  expect([loan.lapsed, entry.place]).toEqual([false, "lent"]);
  loans.resume(loan);
  loans.lapse();
  expect([loan.lapsed, entry.place]).toEqual([true, "ready"]);
});

test("the end of a loan that has lapsed may still be written, and until then nobody else gets the record", async () => {
  const { clock, entry, loans, loan } = lent();
  await clock.pass(LOAN_MS);
  loans.lapse();
  expect(entry.place).toBe("ready");
  loans.begin(loan, Promise.resolve(true));
  loans.lapse();
  expect([loan.lapsed, entry.place]).toEqual([false, "lent"]);
});
