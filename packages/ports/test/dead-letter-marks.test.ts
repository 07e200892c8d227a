import fc from "fast-check";
import { expect, test } from "vitest";
import { type DeadLetterMarks, type MarkChange, marked, mergedMarks, type RedriveMark } from "../src/index.ts";

const note = fc.record({ at: fc.nat(), by: fc.string({ maxLength: 64 }), text: fc.string({ maxLength: 1_000 }) });
const change: fc.Arbitrary<MarkChange> = fc.record(
  {
    note,
    assignee: fc.constantFrom("", "alice", "bob"),
    quarantined: fc.boolean(),
    redriven: fc.record({
      lastAt: fc.nat(),
      lastCode: fc.constantFrom("UNAVAILABLE" as const, "TIMEOUT" as const),
      lastError: fc.string({ maxLength: 3_000 }),
      jobId: fc.constant("job-1"),
    }),
  },
  { requiredKeys: [] },
);

test("operators 1.4: marks stay within their bounds, whatever is added, and keep the newest notes", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      let marks: DeadLetterMarks | undefined;
      for (const each of changes) marks = marked(marks, each);
      expect(Buffer.byteLength(JSON.stringify(marks ?? {}))).toBeLessThanOrEqual(8 * 1024);
      const notes = marks?.notes ?? [];
      expect(notes.length).toBeLessThanOrEqual(20);
      const given = changes.flatMap((each) => (each.note === undefined ? [] : [each.note]));
      expect(notes).toEqual(given.slice(given.length - notes.length));
      expect(marks?.redrives?.count ?? 0).toBe(changes.filter((each) => each.redriven !== undefined).length);
    }),
  );
});

test("an empty assignee clears it, and without anything left there are no marks", () => {
  const marks = marked(undefined, { assignee: "alice", quarantined: true });
  expect(marks).toEqual({ assignee: "alice", quarantined: true });
  expect(marked(marks, { assignee: "" })).toEqual({ quarantined: true });
  expect(marked({ quarantined: true }, { quarantined: false })).toBeUndefined();
});

test("when somebody was given it, and when it was quarantined or let go, is kept as long as that stays, and of two the later one", () => {
  const first = marked(undefined, { assignee: "alice", quarantined: true, at: 1 });
  expect(first).toEqual({ assignee: "alice", assignedAt: 1, quarantined: true, quarantinedAt: 1 });
  expect(marked(first, { assignee: "alice", quarantined: true, at: 2 })).toEqual(first);
  const letGo = marked(first, { quarantined: false, at: 3 });
  expect(letGo).toEqual({ assignee: "alice", assignedAt: 1, quarantinedAt: 3 });
  expect(marked(letGo, { assignee: "" })).toEqual({ quarantinedAt: 3 });
  expect(mergedMarks(first, letGo)).toMatchObject({ assignedAt: 1, quarantined: true, quarantinedAt: 3 });
});

test("a try counts as one redrive, however often it is told of, and shows what was told last", () => {
  const told = (of: Pick<RedriveMark, "jobId" | "jobTry">, lastAt: number) => ({
    redriven: { lastAt, lastCode: "FORBIDDEN", lastError: `at ${lastAt}`, ...of } as const,
  });
  const first = { jobId: "job-1", jobTry: 1 };
  let marks = marked(undefined, told(first, 1));
  marks = marked(marks, told(first, 2));
  expect(marks?.redrives).toMatchObject({ ...first, count: 1, lastAt: 2, lastError: "at 2" });
  // The next try, another job, the redrive of the entry alone, and one that does not say which it is.
  for (const [of, count] of [
    [{ ...first, jobTry: 2 }, 2],
    [{ jobId: "job-2", jobTry: 2 }, 3],
    [{ jobTry: 7 }, 4],
    [{ jobTry: 7 }, 4],
    [{}, 5],
    [{}, 6],
  ] as const) {
    marks = marked(marks, told(of, 3));
    expect(marks?.redrives?.count).toBe(count);
  }
});

test("spec 4.10.5: of merged marks nothing is lost within the bounds, notes are in order, and merging again adds nothing twice", () => {
  const marksOf = (changes: readonly MarkChange[]): DeadLetterMarks | undefined => {
    let marks: DeadLetterMarks | undefined;
    for (const each of changes) marks = marked(marks, each);
    return marks;
  };
  const some = fc.array(change, { maxLength: 14 }).map(marksOf);
  fc.assert(
    fc.property(some, some, (there, back) => {
      const merged = mergedMarks(there, back);
      expect(Buffer.byteLength(JSON.stringify(merged ?? {}))).toBeLessThanOrEqual(8 * 1024);
      expect(merged?.quarantined).toBe(there?.quarantined ?? back?.quarantined);
      expect(merged?.assignee).toBe(there?.assignee ?? back?.assignee);
      const notes = merged?.notes ?? [];
      const all = [...(there?.notes ?? []), ...(back?.notes ?? [])];
      for (const each of notes) expect(all).toContainEqual(each);
      expect(notes.map(({ at }) => at)).toEqual(notes.map(({ at }) => at).toSorted((a, b) => a - b));
      const left = all.filter((each) => !notes.some((kept) => JSON.stringify(kept) === JSON.stringify(each)));
      for (const each of left) expect(each.at).toBeLessThanOrEqual(notes[0]?.at ?? Infinity);
      const lastAt = Math.max(there?.redrives?.lastAt ?? -1, back?.redrives?.lastAt ?? -1);
      expect(merged?.redrives?.lastAt ?? -1).toBe(lastAt);
      const again = mergedMarks(merged, back);
      if (left.length === 0) expect(again).toEqual(merged);
      const texts = (again?.notes ?? []).map((each) => JSON.stringify(each));
      expect(new Set(texts).size).toBe(new Set(all.map((each) => JSON.stringify(each))).size - countLeft(all, texts));
      expect(mergedMarks(undefined, back)).toEqual(
        back && { ...back, ...(back.notes && { notes: inOrder(back.notes) }) },
      );
    }),
  );
});

function countLeft(all: readonly unknown[], texts: readonly string[]): number {
  return [...new Set(all.map((each) => JSON.stringify(each)))].filter((each) => !texts.includes(each)).length;
}

function inOrder(notes: NonNullable<DeadLetterMarks["notes"]>): NonNullable<DeadLetterMarks["notes"]> {
  return notes.toSorted((a, b) => a.at - b.at);
}
