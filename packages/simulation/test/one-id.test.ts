import { expect, test } from "vitest";
import type { Owner } from "../src/time/virtual-time.ts";
import { auditing, DELIVERED, letter, timeout } from "./support/auditing.ts";

const twins = [0, 1].map((number) => ({ number, at: 0, id: "twin" }));
const [first, second] = ["first", "second"].map((name) => ({ name, alive: true, pending: 0 })) as [Owner, Owner];

test.each([
  { settled: "by nobody", mayBe: true },
  { settled: "by another process", by: second, mayBe: true },
  { settled: "by that process", by: first, mayBe: false },
  { settled: "by that process, which was at work on the other one", by: first, atWork: true, mayBe: true },
])("a process counts the attempts of one message for another one of its id: settled $settled", (given) => {
  const { by, atWork = false, mayBe } = given;
  const auditor = auditing({ messages: twins });
  auditor.source.published(1);
  auditor.targets.failed(1, "out", timeout, first);
  if (atWork) auditor.targets.failed(0, "out", timeout, first);
  auditor.targets.accepts(1, "out");
  if (by !== undefined) auditor.source.settles(1, DELIVERED, false, by);
  if (!atWork) auditor.targets.failed(0, "out", timeout, first);
  auditor.letters.kept(letter, 0);
  expect(auditor.violations).toHaveLength(1);
  auditor.targets.failed(0, "out", timeout, first);
  auditor.letters.kept(letter, 0);
  expect(auditor.violations).toHaveLength(mayBe ? 1 : 2);
});

test("what was dropped by the attempts that others of its id had then is not lost when those are settled, too", () => {
  for (const tried of [2, 1]) {
    const auditor = auditing({ messages: twins, drops: true });
    auditor.source.published(1);
    for (let tries = 1; tries <= tried; tries++) auditor.targets.failed(1, "out", timeout, first);
    auditor.targets.failed(0, "out", timeout, first);
    auditor.source.settles(0, { ...DELIVERED, outcome: "dropped" }, false, first);
    auditor.source.forgotten(0);
    auditor.targets.accepts(1, "out");
    auditor.source.settles(1, DELIVERED, false, first);
    auditor.source.forgotten(1);
    auditor.close();
    expect(auditor.violations).toHaveLength(tried === 2 ? 0 : 2);
  }
});

test("the outbox may refuse one of two messages that have one id", () => {
  const boxed = auditing({ messages: twins, outbox: { latencyMs: 1, shared: true, maxRecords: 9 } });
  boxed.source.published(1);
  boxed.letters.kept({ ...letter, errorCode: "ID_CONFLICT" }, 0);
  expect(boxed.violations).toEqual([]);
});
